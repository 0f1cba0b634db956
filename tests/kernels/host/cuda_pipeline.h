// Empty: cuda_host.hpp defines what the kernels use of it.
