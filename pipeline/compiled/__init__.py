"""Machine code of CUDA kernels: compiled, read, and run on arrays."""
