// k10_warptiled: one more level of tiles, between the block's and the thread's: the warp's.
//
// A warp owns WM x WN of C. Its 32 lanes cover SUB_M x SUB_N at a time, WMITER x WNITER times, and
// each lane first reads all its operands of one step k into registers: 24 words serve 128
// multiply-adds, where in k09 16 words serve 64.
//
// Launch: grid (M / BM, N / BN), block (THREADS). M, N, K multiples of BM, BN, BK.

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

constexpr int WMITER = WM * WN / (32 * TM * TN * WNITER);
constexpr int SUB_M = WM / WMITER, SUB_N = WN / WNITER;  // what the 32 lanes cover at a time
constexpr int ROWS_A = THREADS / (BK / 4);  // rows of A that all threads together stage in one pass
constexpr int ROWS_B = THREADS / (BN / 4);
static_assert((BM / WM) * (BN / WN) * 32 == THREADS, "one warp per warp tile");
static_assert((SUB_M / TM) * (SUB_N / TN) == 32, "one lane per thread tile");
static_assert(THREADS * 4 % BK == 0 && BM % ROWS_A == 0, "whole passes over A");
static_assert(THREADS * 4 % BN == 0 && BK % ROWS_B == 0, "whole passes over B");

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
    k10_warptiled(const float* A, const float* B, float* C, int M, int N, int K) {
    alignas(16) __shared__ float As[BK * BM];  // transposed: As[k][row]
    alignas(16) __shared__ float Bs[BK * BN];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
    const int my_row = warp / (BN / WN) * WM + lane / (SUB_N / TN) * TM;  // within the block's tile
    const int my_col = warp % (BN / WN) * WN + lane % (SUB_N / TN) * TN;
    A += row0 * K;
    B += col0;
    C += (row0 + my_row) * N + col0 + my_col;

    float acc[WMITER][TM][WNITER][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        stage(A + k0, B + k0 * N, As, Bs, N, K, t);
        __syncthreads();
        multiply(As + my_row, Bs + my_col, acc);
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
