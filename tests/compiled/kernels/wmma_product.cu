// The same product through the wmma interface, accumulating in half precision.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_product(const __half* A, const __half* B, __half* C, int N, int K) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> c;
    wmma::fill_fragment(c, __half(0.0f));
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + blockIdx.x * 16 * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + blockIdx.y * 16, N);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C + blockIdx.x * 16 * N + blockIdx.y * 16, c, N, wmma::mem_row_major);
}
