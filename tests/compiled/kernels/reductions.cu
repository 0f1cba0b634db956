// What Blackwell has instructions of its own for: extrema of three, sums of warps for atomics.
extern "C" __global__ void reductions(const float* x, const int* v, float* windows, int* extrema, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 5 > n) return;
    float top = x[i];
    for (int k = 1; k < 5; ++k) top = fmaxf(top, x[i + k]);
    windows[i] = top;
    atomicMax(&extrema[0], v[i]);
    atomicMin(&extrema[1], v[i]);
    atomicAdd(&extrema[2], v[i]);
    atomicXor(&extrema[3], v[i]);
}
