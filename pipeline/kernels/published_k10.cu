// published_k10: k10 in the structure of the code whose rates are published; see published.cu.
//
// Launch: grid (N / BN, M / BM), block (THREADS). M, N, K multiples of BM, BN, BK.

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

#define ARGUMENTS int M, int N, int K, float alpha, float *A, float *B, float beta, float *C

__device__ float4& four(float* p) { return *reinterpret_cast<float4*>(p); }

__device__ void update_four(float* to, const float* sums, float alpha, float beta) {
    float4 v = four(to);
    v.x = alpha * sums[0] + beta * v.x;
    v.y = alpha * sums[1] + beta * v.y;
    v.z = alpha * sums[2] + beta * v.z;
    v.w = alpha * sums[3] + beta * v.w;
    four(to) = v;
}

constexpr unsigned WMITER = WM * WN / (32 * TM * TN * WNITER);
constexpr unsigned DOWN = WM / WMITER, OVER = WN / WNITER;  // what 32 lanes cover at a time
constexpr unsigned EVERY_A = THREADS * 4 / BK, EVERY_B = THREADS * 4 / BN;

// Stage a tile of A, transposed, and one of B; the thread's part of each begins at row and column.
__device__ void stage(int N, int K, float* A, float* B, float* As, float* Bs, unsigned a_row,
                      unsigned a_col, unsigned b_row, unsigned b_col) {
    for (unsigned r = 0; r < BM; r += EVERY_A) {
        const float4 v = four(&A[(a_row + r) * K + a_col]);
        const float words[] = {v.x, v.y, v.z, v.w};
        for (unsigned i = 0; i < 4; ++i) As[(a_col + i) * BM + a_row + r] = words[i];
    }
    for (unsigned r = 0; r < BK; r += EVERY_B)
        four(&Bs[(b_row + r) * BN + b_col]) = four(&B[(b_row + r) * N + b_col]);
}

// Multiply one staged tile; As and Bs are those of the block, the lane's part begins at row, col.
__device__ void multiply(const float* As, const float* Bs, unsigned row, unsigned col, float* a,
                         float* b, float* sums) {
    for (unsigned k = 0; k < BK; ++k) {
        for (unsigned m = 0; m < WMITER; ++m)
            for (unsigned i = 0; i < TM; ++i) a[m * TM + i] = As[k * BM + row + m * DOWN + i];
        for (unsigned n = 0; n < WNITER; ++n)
            for (unsigned j = 0; j < TN; ++j) b[n * TN + j] = Bs[k * BN + col + n * OVER + j];
        for (unsigned m = 0; m < WMITER; ++m)
            for (unsigned n = 0; n < WNITER; ++n)
                for (unsigned i = 0; i < TM; ++i)
                    for (unsigned j = 0; j < TN; ++j)
                        sums[((m * TM + i) * WNITER + n) * TN + j] += a[m * TM + i] * b[n * TN + j];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) k10_warptiled(ARGUMENTS) {
    __shared__ float As[BK * BM];
    __shared__ float Bs[BK * BN];
    const unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
    const unsigned down = warp / (BN / WN) * WM, right = warp % (BN / WN) * WN;
    const unsigned lane_down = lane / (OVER / TN) * TM, lane_right = lane % (OVER / TN) * TN;
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += (blockIdx.y * BM + down) * N + blockIdx.x * BN + right;
    float sums[WMITER * TM * WNITER * TN] = {}, a[WMITER * TM] = {}, b[WNITER * TN] = {};
    for (unsigned k0 = 0; k0 < K; k0 += BK) {
        stage(N, K, A, B, As, Bs, t / (BK / 4), t % (BK / 4) * 4, t / (BN / 4), t % (BN / 4) * 4);
        __syncthreads();
        multiply(As, Bs, down + lane_down, right + lane_right, a, b, sums);
        A += BK;
        B += BK * N;
        __syncthreads();
    }
    for (unsigned m = 0; m < WMITER; ++m)
        for (unsigned n = 0; n < WNITER; ++n) {
            float* to = C + m * DOWN * N + n * OVER;
            for (unsigned i = 0; i < TM; ++i)
                for (unsigned j = 0; j < TN; j += 4)
                    update_four(&to[(lane_down + i) * N + lane_right + j],
                                &sums[((m * TM + i) * WNITER + n) * TN + j], alpha, beta);
        }
}
