// k08_banks_padded: k06 with PAD spare words after every row of the tile of B.
//
// Padding moves equal columns of different rows to different banks. It also breaks the 16-byte
// alignment of the rows, so B is stored and read one word at a time. A warp reads within one row,
// so lanes TN words apart still meet in one bank: what padding buys, the counters tell.
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
#ifndef PAD
#define PAD 5
#endif

constexpr int PITCH = BN + PAD;  // words from one row of Bs to the next
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int ROWS_A = THREADS / (BK / 4);  // rows of A that all threads together stage in one pass
constexpr int ROWS_B = THREADS / (BN / 4);
static_assert(THREADS * 4 % BK == 0 && BM % ROWS_A == 0, "whole passes over A");
static_assert(THREADS * 4 % BN == 0 && BK % ROWS_B == 0, "whole passes over B");

__device__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void store4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }

extern "C" __global__ void __launch_bounds__(THREADS)
    k08_banks_padded(const float* A, const float* B, float* C, int M, int N, int K) {
    alignas(16) __shared__ float As[BK * BM];  // transposed: As[k][row]
    __shared__ float Bs[BK * PITCH];
    const int t = threadIdx.x;
    const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
    const int tile_row = t / (BN / TN) * TM, tile_col = t % (BN / TN) * TN;
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
            float* to = &Bs[(b_row + r) * PITCH + b_col];
            to[0] = v.x;
            to[1] = v.y;
            to[2] = v.z;
            to[3] = v.w;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            alignas(16) float a[TM];
            float b[TN];
            for (int i = 0; i < TM; i += 4) store4(&a[i], load4(&As[k * BM + tile_row + i]));
            for (int j = 0; j < TN; ++j) b[j] = Bs[k * PITCH + tile_col + j];
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
