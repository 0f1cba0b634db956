// C = alpha A B + beta C with a square of 8 x 8 elements per thread, tiles of 128 x 128 x 8, and
// pointers that move along with the tiles. Sizes are multiples of the tile.
constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, THREADS = (BM / TM) * (BN / TN);

extern "C" __global__ void gemm_update(int M, int N, int K, float alpha, const float* A,
                                       const float* B, float beta, float* C) {
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    const unsigned t = threadIdx.x, col = t % (BN / TN), row = t / (BN / TN);
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    float sums[TM * TN] = {}, a[TM], b[TN];
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int r = 0; r < BM; r += THREADS / BK)
            As[(t / BK + r) * BK + t % BK] = A[(t / BK + r) * K + t % BK];
        for (int r = 0; r < BK; r += THREADS / BN)
            Bs[(t / BN + r) * BN + t % BN] = B[(t / BN + r) * N + t % BN];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int k = 0; k < BK; ++k) {
            for (int i = 0; i < TM; ++i) a[i] = As[(row * TM + i) * BK + k];
            for (int j = 0; j < TN; ++j) b[j] = Bs[k * BN + col * TN + j];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sums[i * TN + j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            float* to = &C[(row * TM + i) * N + col * TN + j];
            *to = alpha * sums[i * TN + j] + beta * *to;
        }
}
