// k05_blocktile_2d: a thread keeps TM x TN elements of C in registers and adds outer products.
//
// Per step it reads TM words of A and TN of B for TM * TN multiply-adds: 1 / TM + 1 / TN shared
// loads each, 0.25 here. The price: many registers, and lanes TN words apart in the same banks.
// VEC_B 1 spells the TN words of B as 128-bit loads; a compiler that can prove the alignment does
// the same unasked.
//
// Launch: grid (M / BM, N / BN), block ((BM / TM) * (BN / TN)). M, N, K multiples of BM, BN, BK.

#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef BK
#define BK 8
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif
#ifndef VEC_B
#define VEC_B 0
#endif

constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int ROWS_A = THREADS / BK;  // rows of A that all threads together stage in one pass
constexpr int ROWS_B = THREADS / BN;
static_assert(THREADS % BK == 0 && BM % ROWS_A == 0, "whole passes over A");
static_assert(THREADS % BN == 0 && BK % ROWS_B == 0, "whole passes over B");

extern "C" __global__ void __launch_bounds__(THREADS)
    k05_blocktile_2d(const float* A, const float* B, float* C, int M, int N, int K) {
    alignas(16) __shared__ float As[BM * BK];
    alignas(16) __shared__ float Bs[BK * BN];
    const int t = threadIdx.x;
    const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
    const int tile_row = t / (BN / TN) * TM, tile_col = t % (BN / TN) * TN;
    const int a_row = t / BK, a_col = t % BK;
    const int b_row = t / BN, b_col = t % BN;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int r = 0; r < BM; r += ROWS_A)
            As[(a_row + r) * BK + a_col] = A[(row0 + a_row + r) * K + k0 + a_col];
        for (int r = 0; r < BK; r += ROWS_B)
            Bs[(b_row + r) * BN + b_col] = B[(k0 + b_row + r) * N + col0 + b_col];
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            float a[TM];
            alignas(16) float b[TN];
            for (int i = 0; i < TM; ++i) a[i] = As[(tile_row + i) * BK + k];
            const float* from = &Bs[k * BN + tile_col];
            if (VEC_B) {
                for (int j = 0; j < TN; j += 4)
                    *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&from[j]);
            } else {
                for (int j = 0; j < TN; ++j) b[j] = from[j];
            }
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
            C[(row0 + tile_row + i) * N + col0 + tile_col + j] = acc[i][j];
}
