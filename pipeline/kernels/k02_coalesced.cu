// k02_coalesced: the work of k01, with the lanes of a warp turned along a row of C.
//
// A warp now owns 32 neighbouring columns of one row: its load of A is one word for all lanes, its
// loads of B and stores of C are 128 bytes in a row, one line each.
//
// Launch: grid (ceil(M / BS), ceil(N / BS)), block (BS * BS). Any M, N, K.

#ifndef BS
#define BS 32
#endif

extern "C" __global__ void k02_coalesced(const float* A, const float* B, float* C, int M, int N,
                                         int K) {
    const int row = blockIdx.x * BS + threadIdx.x / BS;
    const int col = blockIdx.y * BS + threadIdx.x % BS;
    if (row >= M || col >= N) return;

    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
