// k11_double_buffered: two buffers; half of the threads stages while the other half multiplies.
//
// Each turn of the loop takes two tiles and has three phases, a barrier after each:
//     first half:  multiply 0    multiply 1    stage 0 (for the next turn)
//     second half: stage 1       multiply 0    multiply 1
// The split is by warps and every barrier stands outside the branches, where all threads meet it.
//
// Launch: grid (M / BM, N / BN), block (THREADS). M, N, K multiples of BM, BN, BK.

#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 256
#endif
#ifndef BK
#define BK 16
#endif
#ifndef WM
#define WM 128
#endif
#ifndef WN
#define WN 32
#endif
#ifndef WNITER
#define WNITER 1
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif
#ifndef THREADS
#define THREADS 256
#endif

constexpr int HALF = THREADS / 2;
constexpr int WMITER = WM * WN / (32 * TM * TN * WNITER);
constexpr int SUB_M = WM / WMITER, SUB_N = WN / WNITER;  // what the 32 lanes cover at a time
constexpr int ROWS_A = HALF / (BK / 4);  // rows of A that half of the threads stages in one pass
constexpr int ROWS_B = HALF / (BN / 4);
static_assert((BM / WM) * (BN / WN) * 32 == THREADS, "one warp per warp tile");
static_assert((SUB_M / TM) * (SUB_N / TN) == 32, "one lane per thread tile");
static_assert(HALF * 4 % BK == 0 && BM % ROWS_A == 0, "whole passes over A");
static_assert(HALF * 4 % BN == 0 && BK % ROWS_B == 0, "whole passes over B");
static_assert(HALF % 32 == 0, "halves are whole warps");

__device__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void store4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }

// Stage the BM x BK tile of A (transposed) and the BK x BN tile of B that start at these addresses.
__device__ void stage(const float* A, const float* B, float* As, float* Bs, int N, int K, int t) {
    const int a_row = t / (BK / 4), a_col = t % (BK / 4) * 4;
    const int b_row = t / (BN / 4), b_col = t % (BN / 4) * 4;
    for (int r = 0; r < BM; r += ROWS_A) {
        const float4 v = load4(&A[(a_row + r) * K + a_col]);
        As[(a_col + 0) * BM + a_row + r] = v.x;
        As[(a_col + 1) * BM + a_row + r] = v.y;
        As[(a_col + 2) * BM + a_row + r] = v.z;
        As[(a_col + 3) * BM + a_row + r] = v.w;
    }
    for (int r = 0; r < BK; r += ROWS_B)
        store4(&Bs[(b_row + r) * BN + b_col], load4(&B[(b_row + r) * N + b_col]));
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
    k11_double_buffered(const float* A, const float* B, float* C, int M, int N, int K) {
    alignas(16) __shared__ float As[2][BK * BM];  // transposed: As[buffer][k][row]
    alignas(16) __shared__ float Bs[2][BK * BN];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
    const int my_row = warp / (BN / WN) * WM + lane / (SUB_N / TN) * TM;  // within the block's tile
    const int my_col = warp % (BN / WN) * WN + lane % (SUB_N / TN) * TN;
    A += row0 * K;
    B += col0;
    C += (row0 + my_row) * N + col0 + my_col;
    const bool second = t >= HALF;

    float acc[WMITER][TM][WNITER][TN] = {};
    if (!second) stage(A, B, As[0], Bs[0], N, K, t);
    __syncthreads();
    for (int k0 = 0; k0 < K; k0 += 2 * BK) {
        const int k1 = k0 + BK, k2 = k1 + BK;
        if (!second) {
            multiply(As[0] + my_row, Bs[0] + my_col, acc);
        } else if (k1 < K) {
            stage(A + k1, B + k1 * N, As[1], Bs[1], N, K, t - HALF);
        }
        __syncthreads();
        if (second || k1 < K) multiply(As[!second] + my_row, Bs[!second] + my_col, acc);
        __syncthreads();
        if (second) {
            if (k1 < K) multiply(As[1] + my_row, Bs[1] + my_col, acc);
        } else if (k2 < K) {
            stage(A + k2, B + k2 * N, As[0], Bs[0], N, K, t);
        }
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
