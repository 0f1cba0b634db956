// gemv_bf16: y = W x, a matrix of bfloat16 times one vector, as a decode step has it.
//
// A warp computes one row of W: its lanes read 16 bytes each, 512 neighbouring bytes in all, UNROLL
// times in a turn, of which the compiler keeps some under way. At the end the lanes add up their
// sums. W is read once; x stays in L1.
//
// Launch: grid (rows / WARPS), block (32 * WARPS). columns a multiple of 256.

#ifndef WARPS
#define WARPS 8
#endif
#ifndef UNROLL
#define UNROLL 4
#endif

__device__ float low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float high(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ float dot(uint4 w, uint4 x, float sum) {
    sum = fmaf(low(w.x), low(x.x), sum);
    sum = fmaf(high(w.x), high(x.x), sum);
    sum = fmaf(low(w.y), low(x.y), sum);
    sum = fmaf(high(w.y), high(x.y), sum);
    sum = fmaf(low(w.z), low(x.z), sum);
    sum = fmaf(high(w.z), high(x.z), sum);
    sum = fmaf(low(w.w), low(x.w), sum);
    return fmaf(high(w.w), high(x.w), sum);
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    gemv_bf16(const uint4* __restrict__ W, const uint4* __restrict__ x, float* y, int rows,
              int columns) {
    const int lane = threadIdx.x % 32, row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    const int groups = columns / 8;  // of eight numbers, 16 bytes
    const uint4* mine = W + (long long)row * groups;
    float sum = 0;
    int at = lane;
    for (; at + 32 * (UNROLL - 1) < groups; at += 32 * UNROLL) {
        uint4 w[UNROLL];
        for (int u = 0; u < UNROLL; u++) w[u] = mine[at + 32 * u];
        for (int u = 0; u < UNROLL; u++) sum = dot(w[u], x[at + 32 * u], sum);
    }
    for (; at < groups; at += 32) sum = dot(mine[at], x[at], sum);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) y[row] = sum;
}
