// A function that is called, not inlined: a loop of its own, and a return through a register.
__device__ __noinline__ float iterate(float x, int n) {
    for (int i = 0; i < n; ++i) x = x * x + 0.5f;
    return x;
}
extern "C" __global__ void function_call(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = iterate(in[i], i % 5) + iterate(in[n - 1 - i], 3);
}
