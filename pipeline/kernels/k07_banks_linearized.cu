// k07_banks_linearized: k06 with the tile of B rearranged so that a warp reads neighbouring words.
//
// In k06 lanes read Bs TN words apart, and several meet in one bank. Here element j of every
// thread's TN columns lies together: Bs[k][j][thread column], BN / TN words in a row for each j.
// Reads of B lose their conflicts but become TN 32-bit loads; storing B takes four stores.
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

constexpr int COLS = BN / TN;  // threads along a row of C
constexpr int THREADS = (BM / TM) * COLS;
constexpr int ROWS_A = THREADS / (BK / 4);  // rows of A that all threads together stage in one pass
constexpr int ROWS_B = THREADS / (BN / 4);
static_assert(TN % 4 == 0, "four columns of B belong to one thread");
static_assert(THREADS * 4 % BK == 0 && BM % ROWS_A == 0, "whole passes over A");
static_assert(THREADS * 4 % BN == 0 && BK % ROWS_B == 0, "whole passes over B");

__device__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void store4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }

extern "C" __global__ void __launch_bounds__(THREADS)
    k07_banks_linearized(const float* A, const float* B, float* C, int M, int N, int K) {
    alignas(16) __shared__ float As[BK * BM];  // transposed: As[k][row]
    __shared__ float Bs[BK * BN];              // Bs[k][j][thread column]
    const int t = threadIdx.x;
    const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
    const int tile_row = t / COLS * TM, tile_col = t % COLS * TN;
    const int a_row = t / (BK / 4), a_col = t % (BK / 4) * 4;
    const int b_row = t / (BN / 4), b_col = t % (BN / 4) * 4;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int r = 0; r < BM; r += ROWS_A) {
            const float4 v = load4(&A[(row0 + a_row + r) * K + k0 + a_col]);
            As[(a_col + 0) * BM + a_row + r] = v.x;
            As[(a_col + 1) * BM + a_row + r] = v.y;
            As[(a_col + 2) * BM + a_row + r] = v.z;
            As[(a_col + 3) * BM + a_row + r] = v.w;
        }
        for (int r = 0; r < BK; r += ROWS_B) {
            const float4 v = load4(&B[(k0 + b_row + r) * N + col0 + b_col]);
            float* to = &Bs[((b_row + r) * TN + b_col % TN) * COLS + b_col / TN];
            to[0 * COLS] = v.x;
            to[1 * COLS] = v.y;
            to[2 * COLS] = v.z;
            to[3 * COLS] = v.w;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            alignas(16) float a[TM];
            float b[TN];
            for (int i = 0; i < TM; i += 4) store4(&a[i], load4(&As[k * BM + tile_row + i]));
            for (int j = 0; j < TN; ++j) b[j] = Bs[(k * TN + j) * COLS + t % COLS];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; j += 4)
            store4(&C[(row0 + tile_row + i) * N + col0 + tile_col + j],
                   make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]));
}
