// k13_tensor_core: tensor cores multiply halves, with sums in single precision.
//
// One mma of a warp multiplies 16 x 16 by 16 x 8 elements: 2048 multiply-adds, for which k12 takes
// 64 FFMA. Its operands lie spread over the lanes, as ldmatrix reads them from shared memory: eight
// rows of 16 bytes at a time. LAYOUT says how the tiles lie there. 0, plain: rows are a multiple of
// 128 bytes apart, so eight of them begin in one bank and are read one after the other. 1, padded:
// 16 bytes more per row. 2, swizzled: the 16-byte pieces of a row change places by its number.
// Two barriers per tile, as in k03; DROP_SYNC 1 or 2 leaves that one out.
//
// Launch: grid (M / BM, N / BN), block (32 * BM / WM * BN / WN). M, N, K multiples of BM, BN, BK.
// Needs compute capability 8.0.

#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef BK
#define BK 64
#endif
#ifndef WM
#define WM 64
#endif
#ifndef WN
#define WN 64
#endif
#ifndef LAYOUT
#define LAYOUT 2
#endif
#ifndef DROP_SYNC
#define DROP_SYNC 0
#endif

#ifdef __CUDACC__
#include <cuda_fp16.h>

// Four 8 x 8 matrices, of which lane 8 j + i names row i of matrix j.
__device__ void ldmatrix(unsigned (&r)[4], const half* row) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

__device__ void ldmatrix_trans(unsigned (&r)[4], const half* row) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

__device__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif

constexpr int THREADS = 32 * (BM / WM) * (BN / WN);
constexpr int PAD = LAYOUT == 1 ? 8 : 0;
static_assert(WM % 16 == 0 && WN % 16 == 0 && BK % 16 == 0, "whole fragments");
static_assert(BM % WM == 0 && BN % WN == 0, "one warp per warp tile");
static_assert(LAYOUT != 2 || ((BK & (BK - 1)) == 0 && (BN & (BN - 1)) == 0), "powers of two");

// Where an element of a tile with COLS columns lies, and the seven to the right of it. Swizzled,
// the number of its 16 bytes takes up that of the row, or of the 128 bytes that hold several.
template <int COLS>
__device__ int place(int row, int col) {
    constexpr int line = COLS > 64 ? COLS : 64;
    const int index = row * (COLS + PAD) + col;
    return LAYOUT == 2 ? index ^ index / line % 8 * 8 : index;
}

// Stage a ROWS x COLS tile, 16 bytes per thread and pass.
template <int ROWS, int COLS>
__device__ void stage(half* tile, const half* matrix, int pitch) {
    constexpr int per_row = COLS / 8, down = THREADS / per_row;
    static_assert(THREADS % per_row == 0 && ROWS % down == 0, "whole passes");
    const int row = threadIdx.x / per_row, col = threadIdx.x % per_row * 8;
    for (int r = 0; r < ROWS; r += down)
        *reinterpret_cast<float4*>(&tile[place<COLS>(row + r, col)]) =
            *reinterpret_cast<const float4*>(&matrix[(row + r) * pitch + col]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    k13_tensor_core(const half* A, const half* B, float* C, int M, int N, int K) {
    alignas(16) __shared__ half As[BM * (BK + PAD)];
    alignas(16) __shared__ half Bs[BK * (BN + PAD)];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
    const int my_row = warp / (BN / WN) * WM, my_col = warp % (BN / WN) * WN;

    float acc[WM / 16][WN / 8][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        stage<BM, BK>(As, A + row0 * K + k0, K);
        stage<BK, BN>(Bs, B + k0 * N + col0, N);
        if (DROP_SYNC != 1) __syncthreads();
        for (int k = 0; k < BK; k += 16) {
            unsigned a[WM / 16][4], b[WN / 16][4];
            const int a_row = my_row + lane % 16, a_col = k + lane / 16 * 8;
            for (int i = 0; i < WM / 16; ++i)
                ldmatrix(a[i], &As[place<BK>(a_row + 16 * i, a_col)]);
            // Rows of B run along N: transposed, two matrices of 16 x 8 side by side.
            const int b_row = k + lane % 16, b_col = my_col + lane / 16 * 8;
            for (int j = 0; j < WN / 16; ++j)
                ldmatrix_trans(b[j], &Bs[place<BN>(b_row, b_col + 16 * j)]);
            for (int i = 0; i < WM / 16; ++i)
                for (int j = 0; j < WN / 8; ++j)
                    mma(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
        if (DROP_SYNC != 2) __syncthreads();
    }
    C += (row0 + my_row + lane / 4) * N + col0 + my_col + lane % 4 * 2;
    for (int i = 0; i < WM / 16; ++i)
        for (int j = 0; j < WN / 8; ++j)
            for (int h = 0; h < 2; ++h)
                *reinterpret_cast<float2*>(&C[(16 * i + 8 * h) * N + 8 * j]) =
                    make_float2(acc[i][j][2 * h], acc[i][j][2 * h + 1]);
}
