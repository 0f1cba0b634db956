// k03_smem: a block stages square tiles of A and B in shared memory before it multiplies them.
//
// Each staged number serves BS threads, so global loads fall by a factor of BS against k02. Each
// multiply-add still reads two words, now from shared memory.
// Two barriers per tile: the first keeps readers from an unfinished tile, the second keeps the
// next tile from overwriting what others still read. DROP_SYNC 1 or 2 leaves that one out.
//
// Launch: grid (M / BS, N / BS), block (BS * BS). M, N, K multiples of BS.

#ifndef BS
#define BS 32
#endif
#ifndef DROP_SYNC
#define DROP_SYNC 0
#endif

extern "C" __global__ void k03_smem(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float As[BS * BS];
    __shared__ float Bs[BS * BS];
    const int y = threadIdx.x / BS, x = threadIdx.x % BS;
    const int row = blockIdx.x * BS + y, col = blockIdx.y * BS + x;

    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BS) {
        const float a = A[row * K + k0 + x];
        const float b = B[(k0 + y) * N + col];
        As[y * BS + x] = a;
        Bs[y * BS + x] = b;
        if (DROP_SYNC != 1) __syncthreads();
        for (int k = 0; k < BS; ++k) sum += As[y * BS + k] * Bs[k * BS + x];
        if (DROP_SYNC != 2) __syncthreads();
    }
    C[row * N + col] = sum;
}
