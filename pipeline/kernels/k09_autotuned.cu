// k09_autotuned: k06 with its tile numbers free, set here to what a search found best.
//
// A fixed 16 x 16 grid of threads covers 16 TM x 16 TN of the tile at a time and walks over the
// rest of it, so BM, BN, BK, TM and TN can be varied one by one. The deeper tile (BK 16) halves the
// barriers per multiply-add.
//
// Launch: grid (M / BM, N / BN), block (256). M, N, K multiples of BM, BN, BK.

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

constexpr int THREADS = 256;
constexpr int WM = 16 * TM, WN = 16 * TN;  // what the 16 x 16 threads cover at a time
constexpr int STEPS_M = BM / WM, STEPS_N = BN / WN;
constexpr int ROWS_A = THREADS / (BK / 4);  // rows of A that all threads together stage in one pass
constexpr int ROWS_B = THREADS / (BN / 4);
static_assert(BM % WM == 0 && BN % WN == 0, "the block's tile is whole steps");
static_assert(THREADS * 4 % BK == 0 && BM % ROWS_A == 0, "whole passes over A");
static_assert(THREADS * 4 % BN == 0 && BK % ROWS_B == 0, "whole passes over B");

__device__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void store4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }

extern "C" __global__ void __launch_bounds__(THREADS)
    k09_autotuned(const float* A, const float* B, float* C, int M, int N, int K) {
    alignas(16) __shared__ float As[BK * BM];  // transposed: As[k][row]
    alignas(16) __shared__ float Bs[BK * BN];
    const int t = threadIdx.x;
    const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
    const int tile_row = t / 16 * TM, tile_col = t % 16 * TN;
    const int a_row = t / (BK / 4), a_col = t % (BK / 4) * 4;
    const int b_row = t / (BN / 4), b_col = t % (BN / 4) * 4;

    float acc[STEPS_M][STEPS_N][TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int r = 0; r < BM; r += ROWS_A) {
            const float4 v = load4(&A[(row0 + a_row + r) * K + k0 + a_col]);
            As[(a_col + 0) * BM + a_row + r] = v.x;
            As[(a_col + 1) * BM + a_row + r] = v.y;
            As[(a_col + 2) * BM + a_row + r] = v.z;
            As[(a_col + 3) * BM + a_row + r] = v.w;
        }
        for (int r = 0; r < BK; r += ROWS_B)
            store4(&Bs[(b_row + r) * BN + b_col], load4(&B[(k0 + b_row + r) * N + col0 + b_col]));
        __syncthreads();
        for (int m = 0; m < STEPS_M; ++m)
            for (int n = 0; n < STEPS_N; ++n)
                for (int k = 0; k < BK; ++k) {
                    const float* from_a = &As[k * BM + m * WM + tile_row];
                    const float* from_b = &Bs[k * BN + n * WN + tile_col];
                    alignas(16) float a[TM], b[TN];
                    for (int i = 0; i < TM; i += 4) store4(&a[i], load4(&from_a[i]));
                    for (int j = 0; j < TN; j += 4) store4(&b[j], load4(&from_b[j]));
                    for (int i = 0; i < TM; ++i)
                        for (int j = 0; j < TN; ++j) acc[m][n][i][j] += a[i] * b[j];
                }
        __syncthreads();
    }
    for (int m = 0; m < STEPS_M; ++m)
        for (int n = 0; n < STEPS_N; ++n)
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; j += 4) {
                    const float* v = &acc[m][n][i][j];
                    store4(&C[(row0 + m * WM + tile_row + i) * N + col0 + n * WN + tile_col + j],
                           make_float4(v[0], v[1], v[2], v[3]));
                }
}
