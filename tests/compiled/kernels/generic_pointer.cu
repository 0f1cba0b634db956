// A pointer that leads to shared, local or global memory, as an argument says.
extern "C" __global__ void generic_pointer(const float* x, float* out, int n, int which) {
    __shared__ float shared[256];
    float own[8];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x] = x[i];
    for (int k = 0; k < 8; ++k) own[k] = x[(i + k) % n];
    __syncthreads();
    const float* from = which == 0 ? shared : which == 1 ? own : x;
    out[i] = from[(threadIdx.x * 7 + which) % 8];
}
