// k12_double_buffered_async: k10 with two buffers, one filled by cp.async while one is multiplied.
//
// A thread's commit closes a group of copies; waiting for all but the newest group makes the thread
// certain of its own copies of this tile, and the barrier after it of everybody's. Both are needed:
// the barrier alone does not wait for copies. DROP_WAIT 1 leaves the wait out, to see it reported.
// The second barrier keeps the next copy from overwriting the buffer that others still read.
//
// Launch: grid (M / BM, N / BN), block (THREADS). M, N, K multiples of BM, BN, BK.

#include <cuda_pipeline.h>

#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef BK
#define BK 16
#endif
#ifndef WM
#define WM 64
#endif
#ifndef WN
#define WN 64
#endif
#ifndef WNITER
#define WNITER 4
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 4
#endif
#ifndef THREADS
#define THREADS 128
#endif
#ifndef DROP_WAIT
#define DROP_WAIT 0
#endif

constexpr int WMITER = WM * WN / (32 * TM * TN * WNITER);
constexpr int SUB_M = WM / WMITER, SUB_N = WN / WNITER;  // what the 32 lanes cover at a time
constexpr int ROWS_A = THREADS / (BK / 4);  // rows of A that all threads together copy in one pass
constexpr int ROWS_B = THREADS / (BN / 4);
static_assert((BM / WM) * (BN / WN) * 32 == THREADS, "one warp per warp tile");
static_assert((SUB_M / TM) * (SUB_N / TN) == 32, "one lane per thread tile");
static_assert(THREADS * 4 % BK == 0 && BM % ROWS_A == 0, "whole passes over A");
static_assert(THREADS * 4 % BN == 0 && BK % ROWS_B == 0, "whole passes over B");

__device__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void store4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }

// Start copying the tiles of A (transposed) and B that start at these addresses. The copies go from
// global to shared memory without passing a register; transposing limits those of A to 4 bytes.
__device__ void copy(const float* A, const float* B, float* As, float* Bs, int N, int K, int t) {
    const int a_row = t / (BK / 4), a_col = t % (BK / 4) * 4;
    const int b_row = t / (BN / 4), b_col = t % (BN / 4) * 4;
    for (int r = 0; r < BM; r += ROWS_A)
        for (int q = 0; q < 4; ++q)
            __pipeline_memcpy_async(&As[(a_col + q) * BM + a_row + r],
                                    &A[(a_row + r) * K + a_col + q], 4);
    for (int r = 0; r < BK; r += ROWS_B)
        __pipeline_memcpy_async(&Bs[(b_row + r) * BN + b_col], &B[(b_row + r) * N + b_col], 16);
}

// Multiply one staged tile. As and Bs point at this lane's first row and column.
__device__ void multiply(const float* As, const float* Bs, float (&acc)[WMITER][TM][WNITER][TN]) {
    for (int k = 0; k < BK; ++k) {
        alignas(16) float a[WMITER][TM], b[WNITER][TN];
        for (int m = 0; m < WMITER; ++m)
            for (int i = 0; i < TM; i += 4) store4(&a[m][i], load4(&As[k * BM + m * SUB_M + i]));
        for (int n = 0; n < WNITER; ++n)
            for (int j = 0; j < TN; j += 4) store4(&b[n][j], load4(&Bs[k * BN + n * SUB_N + j]));
        for (int m = 0; m < WMITER; ++m)
            for (int n = 0; n < WNITER; ++n)
                for (int i = 0; i < TM; ++i)
                    for (int j = 0; j < TN; ++j) acc[m][i][n][j] += a[m][i] * b[n][j];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    k12_double_buffered_async(const float* A, const float* B, float* C, int M, int N, int K) {
    alignas(16) __shared__ float As[2][BK * BM];  // transposed: As[buffer][k][row]
    alignas(16) __shared__ float Bs[2][BK * BN];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
    const int my_row = warp / (BN / WN) * WM + lane / (SUB_N / TN) * TM;  // within the block's tile
    const int my_col = warp % (BN / WN) * WN + lane % (SUB_N / TN) * TN;
    A += row0 * K;
    B += col0;
    C += (row0 + my_row) * N + col0 + my_col;

    float acc[WMITER][TM][WNITER][TN] = {};
    copy(A, B, As[0], Bs[0], N, K, t);
    __pipeline_commit();
    for (int k0 = 0, now = 0; k0 < K; k0 += BK, now ^= 1) {
        const int k1 = k0 + BK;
        if (k1 < K) copy(A + k1, B + k1 * N, As[now ^ 1], Bs[now ^ 1], N, K, t);
        __pipeline_commit();  // an empty group after the last tile, so that the count below holds
        if (!DROP_WAIT) __pipeline_wait_prior(1);
        __syncthreads();
        multiply(As[now] + my_row, Bs[now] + my_col, acc);
        __syncthreads();
    }
    for (int m = 0; m < WMITER; ++m)
        for (int n = 0; n < WNITER; ++n)
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; j += 4) {
                    const float* v = &acc[m][i][n][j];
                    store4(&C[(m * SUB_M + i) * N + n * SUB_N + j],
                           make_float4(v[0], v[1], v[2], v[3]));
                }
}
