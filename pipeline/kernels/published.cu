// published: k04 to k09 in the structure of the code whose rates are published.
//
// The twins say the same shorter. What differs here changes machine code, and so the rate: blocks
// count along a row of C first, pointers move on with the tiles, k06 to k08 set no bound on their
// registers, and C is scaled and added to (alpha, beta). Rates on the A100 were measured with an
// older state: FIRST_STATE 1 puts a barrier of k06 and k09 at the head of their loop, and then the
// compiler leaves the loop inside as it is instead of unrolling it.
//
// Launch: grid (N / BN, M / BM), block as the twin. M, N, K multiples of the tiles.

#ifndef FIRST_STATE
#define FIRST_STATE 0
#endif
// Tiles of k09; those of the others are fixed.
#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef BK
#define BK 16
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif

#define ARGUMENTS int M, int N, int K, float alpha, float *A, float *B, float beta, float *C
#define PASSED M, N, K, alpha, A, B, beta, C

__device__ float4& four(float* p) { return *reinterpret_cast<float4*>(p); }

__device__ void update(float* to, float sum, float alpha, float beta) {
    *to = alpha * sum + beta * *to;
}

__device__ void update_four(float* to, const float* sums, float alpha, float beta) {
    float4 v = four(to);
    v.x = alpha * sums[0] + beta * v.x;
    v.y = alpha * sums[1] + beta * v.y;
    v.z = alpha * sums[2] + beta * v.z;
    v.w = alpha * sums[3] + beta * v.w;
    four(to) = v;
}

extern "C" __global__ void k04_blocktile_1d(ARGUMENTS) {
    constexpr int SIDE = 64, DEPTH = 8, STRIP = 8;
    __shared__ float As[SIDE * DEPTH];
    __shared__ float Bs[DEPTH * SIDE];
    const unsigned t = threadIdx.x;
    const int x = t % SIDE, strip = t / SIDE;
    const unsigned a_row = t / DEPTH, a_col = t % DEPTH, b_row = t / SIDE, b_col = t % SIDE;
    A += blockIdx.y * SIDE * K;
    B += blockIdx.x * SIDE;
    C += blockIdx.y * SIDE * N + blockIdx.x * SIDE;
    float sums[STRIP] = {};
    for (unsigned k0 = 0; k0 < K; k0 += DEPTH) {
        As[a_row * DEPTH + a_col] = A[a_row * K + a_col];
        Bs[b_row * SIDE + b_col] = B[b_row * N + b_col];
        __syncthreads();
        A += DEPTH;
        B += DEPTH * N;
        for (unsigned k = 0; k < DEPTH; ++k) {
            const float b = Bs[k * SIDE + x];
            for (unsigned i = 0; i < STRIP; ++i)
                sums[i] += As[(strip * STRIP + i) * DEPTH + k] * b;
        }
        __syncthreads();
    }
    for (unsigned i = 0; i < STRIP; ++i)
        update(&C[(strip * STRIP + i) * N + x], sums[i], alpha, beta);
}

extern "C" __global__ void __launch_bounds__(256, 1) k05_blocktile_2d(ARGUMENTS) {
    constexpr int SIDE = 128, DEPTH = 8, EACH = 8, EVERY_A = 32, EVERY_B = 2;
    __shared__ float As[SIDE * DEPTH];
    __shared__ float Bs[DEPTH * SIDE];
    const unsigned t = threadIdx.x;
    const int x = t % 16 * EACH, y = t / 16 * EACH;
    const unsigned a_row = t / DEPTH, a_col = t % DEPTH, b_row = t / SIDE, b_col = t % SIDE;
    A += blockIdx.y * SIDE * K;
    B += blockIdx.x * SIDE;
    C += (blockIdx.y * SIDE + y) * N + blockIdx.x * SIDE + x;
    float sums[EACH * EACH] = {}, a[EACH] = {}, b[EACH] = {};
    for (unsigned k0 = 0; k0 < K; k0 += DEPTH) {
        for (unsigned r = 0; r < SIDE; r += EVERY_A)
            As[(a_row + r) * DEPTH + a_col] = A[(a_row + r) * K + a_col];
        for (unsigned r = 0; r < DEPTH; r += EVERY_B)
            Bs[(b_row + r) * SIDE + b_col] = B[(b_row + r) * N + b_col];
        __syncthreads();
        A += DEPTH;
        B += DEPTH * N;
        for (int k = 0; k < DEPTH; ++k) {
            for (int i = 0; i < EACH; ++i) a[i] = As[(y + i) * DEPTH + k];
            for (int j = 0; j < EACH; ++j) b[j] = Bs[k * SIDE + x + j];
            for (int i = 0; i < EACH; ++i)
                for (int j = 0; j < EACH; ++j) sums[i * EACH + j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) update(&C[i * N + j], sums[i * EACH + j], alpha, beta);
}

// What stands at row k and column j of a tile of B that is WIDE columns wide: in order (k06, k09),
// the eight columns of a thread apart from each other (k07), or in rows that are a little longer (k08).
template <int WIDE>
struct InOrder {
    static constexpr bool whole = true;
    static constexpr int row = WIDE;
    static __device__ int at(int k, int j) { return k * row + j; }
};
template <int WIDE>
struct Apart : InOrder<WIDE> {
    static constexpr bool whole = false;
    static __device__ int at(int k, int j) { return (k * 8 + j % 8) * (WIDE / 8) + j / 8; }
};
template <int WIDE>
struct Longer : InOrder<WIDE> {
    static constexpr bool whole = false;
    static constexpr int row = WIDE + 5;
    static __device__ int at(int k, int j) { return k * row + j; }
};

// 16 x 16 threads with H x W sums each go over a tile of R x S; A and B come in DEPTH deep.
template <int R, int S, int DEPTH, int H, int W, template <int> class Layout, bool BARRIER_FIRST>
__device__ void thread_tiles(ARGUMENTS) {
    constexpr int ACROSS = 16, DOWN = R / (ACROSS * H), OVER = S / (ACROSS * W);
    constexpr unsigned EVERY_A = ACROSS * ACROSS * 4 / DEPTH, EVERY_B = ACROSS * ACROSS * 4 / S;
    using Order = Layout<S>;
    __shared__ float As[DEPTH * R];  // transposed
    __shared__ float Bs[DEPTH * Order::row];
    const unsigned t = threadIdx.x;
    const int y = t / ACROSS * H, x = t % ACROSS * W;
    const unsigned a_row = t / (DEPTH / 4), a_col = t % (DEPTH / 4) * 4;
    const unsigned b_row = t / (S / 4), b_col = t % (S / 4) * 4;
    A += blockIdx.y * R * K;
    B += blockIdx.x * S;
    C += blockIdx.y * R * N + blockIdx.x * S;
    float sums[DOWN * H * OVER * W] = {}, a[H] = {}, b[W] = {};
    for (unsigned k0 = 0; k0 < K; k0 += DEPTH) {
        if (BARRIER_FIRST && k0 != 0) __syncthreads();
        for (unsigned r = 0; r < R; r += EVERY_A) {
            const float4 v = four(&A[(a_row + r) * K + a_col]);
            const float words[] = {v.x, v.y, v.z, v.w};
            for (int i = 0; i < 4; ++i) As[(a_col + i) * R + a_row + r] = words[i];
        }
        for (unsigned r = 0; r < DEPTH; r += EVERY_B) {
            const float4 v = four(&B[(b_row + r) * N + b_col]);
            const float words[] = {v.x, v.y, v.z, v.w};
            if (Order::whole)
                four(&Bs[(b_row + r) * S + b_col]) = v;
            else
                for (int i = 0; i < 4; ++i) Bs[Order::at(b_row + r, b_col + i)] = words[i];
        }
        __syncthreads();
        A += DEPTH;
        B += DEPTH * N;
        for (int m = 0; m < DOWN; ++m)
            for (int n = 0; n < OVER; ++n)
                for (int k = 0; k < DEPTH; ++k) {
                    for (int i = 0; i < H; ++i) a[i] = As[k * R + m * ACROSS * H + y + i];
                    for (int j = 0; j < W; ++j) b[j] = Bs[Order::at(k, n * ACROSS * W + x + j)];
                    for (int i = 0; i < H; ++i)
                        for (int j = 0; j < W; ++j)
                            sums[((m * H + i) * OVER + n) * W + j] += a[i] * b[j];
                }
        if (!BARRIER_FIRST) __syncthreads();
    }
    for (int m = 0; m < DOWN; ++m)
        for (int n = 0; n < OVER; ++n)
            for (int i = 0; i < H; ++i)
                for (int j = 0; j < W; j += 4)
                    update_four(&C[(m * ACROSS * H + y + i) * N + n * ACROSS * W + x + j],
                                &sums[((m * H + i) * OVER + n) * W + j], alpha, beta);
}

extern "C" __global__ void k06_vectorized(ARGUMENTS) {
    thread_tiles<128, 128, 8, 8, 8, InOrder, FIRST_STATE>(PASSED);
}

extern "C" __global__ void k07_banks_linearized(ARGUMENTS) {
    thread_tiles<128, 128, 8, 8, 8, Apart, false>(PASSED);
}

extern "C" __global__ void k08_banks_padded(ARGUMENTS) {
    thread_tiles<128, 128, 8, 8, 8, Longer, false>(PASSED);
}

extern "C" __global__ void __launch_bounds__(256) k09_autotuned(ARGUMENTS) {
    thread_tiles<BM, BN, BK, TM, TN, InOrder, FIRST_STATE>(PASSED);
}
