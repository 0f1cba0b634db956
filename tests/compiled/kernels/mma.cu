// One warp per 16 x 8 tile of C = A B in half precision on tensor cores, operands by ldmatrix from
// shared memory that asynchronous copies fill. A is 16 m x K, B is K x 8 n; K a multiple of 16.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
extern "C" __global__ void mma(const __half* A, const __half* B, float* C, int N, int K) {
    __shared__ alignas(16) __half As[16 * 16];
    __shared__ alignas(16) __half Bs[16 * 8];
    const int lane = threadIdx.x;
    float c[4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        const __half* from = &A[(blockIdx.x * 16 + lane / 2) * K + k0 + lane % 2 * 8];
        __pipeline_memcpy_async(&As[lane * 8], from, 16);
        from = &B[(k0 + lane) * N + blockIdx.y * 8];
        if (lane < 16) __pipeline_memcpy_async(&Bs[lane * 8], from, 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        unsigned a[4], b[2];
        const unsigned from_a = __cvta_generic_to_shared(&As[lane % 16 * 16 + lane / 16 * 8]);
        const unsigned from_b = __cvta_generic_to_shared(&Bs[lane % 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(from_a));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(b[0]), "=r"(b[1]) : "r"(from_b));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        __syncthreads();
    }
    const int row = blockIdx.x * 16 + lane / 4, col = blockIdx.y * 8 + lane % 4 * 2;
    C[row * N + col] = c[0];
    C[row * N + col + 1] = c[1];
    C[(row + 8) * N + col] = c[2];
    C[(row + 8) * N + col + 1] = c[3];
}
