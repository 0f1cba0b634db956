// k01_naive: one thread per element of C, every operand straight from global memory.
//
// threadIdx.x counts rows, so the 32 lanes of a warp sit in 32 different rows: one load of A
// touches 32 lines of memory, one load of B asks for the same word 32 times.
//
// Launch: grid (ceil(M / BS), ceil(N / BS)), block (BS, BS). Any M, N, K.

#ifndef BS
#define BS 32
#endif

extern "C" __global__ void k01_naive(const float* A, const float* B, float* C, int M, int N,
                                     int K) {
    const int row = blockIdx.x * BS + threadIdx.x;
    const int col = blockIdx.y * BS + threadIdx.y;
    if (row >= M || col >= N) return;

    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
