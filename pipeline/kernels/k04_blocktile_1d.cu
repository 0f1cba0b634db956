// k04_blocktile_1d: a thread keeps TM neighbouring rows of one column of C in registers.
//
// A word of B, once read from shared memory, serves TM multiply-adds: shared loads per multiply-add
// fall from 2 in k03 to 1 + 1 / TM. Every thread stages one element of A and one of B per tile.
//
// Launch: grid (M / BM, N / BN), block (BM * BN / TM) = BM * BK = BK * BN threads.
// M, N, K multiples of BM, BN, BK.

#ifndef BM
#define BM 64
#endif
#ifndef BN
#define BN 64
#endif
#ifndef BK
#define BK 8
#endif
#ifndef TM
#define TM 8
#endif

static_assert(BM * BK == BM * BN / TM && BK * BN == BM * BN / TM, "one element of A and B each");

extern "C" __global__ void k04_blocktile_1d(const float* A, const float* B, float* C, int M, int N,
                                            int K) {
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    const int t = threadIdx.x;
    const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
    const int col = t % BN, strip = t / BN;  // this thread's column and strip of TM rows
    const int a_row = t / BK, a_col = t % BK;
    const int b_row = t / BN, b_col = t % BN;

    float acc[TM] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[a_row * BK + a_col] = A[(row0 + a_row) * K + k0 + a_col];
        Bs[b_row * BN + b_col] = B[(k0 + b_row) * N + col0 + b_col];
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float b = Bs[k * BN + col];
            for (int i = 0; i < TM; ++i) acc[i] += As[(strip * TM + i) * BK + k] * b;
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i) C[(row0 + strip * TM + i) * N + col0 + col] = acc[i];
}
