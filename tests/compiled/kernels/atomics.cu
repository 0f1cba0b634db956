// Atomics of many types: single, double and half precision, counters that wrap, swaps.
#include <cuda_fp16.h>
extern "C" __global__ void atomics(float* f, double* d, __half2* h, unsigned* u,
                                   unsigned long long* l) {
    __shared__ float sum;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    atomicAdd(&sum, 1.0f);
    atomicAdd(&f[0], 1.5f);
    atomicAdd(d, 0.25);
    atomicAdd(h, __float2half2_rn(1.0f));
    atomicAnd(&u[0], ~i);
    atomicDec(&u[1], 5);
    const unsigned long long old = atomicCAS(&l[0], 0ull, (unsigned long long)i + 7);
    atomicMax(&l[1], old + i);
    __syncthreads();
    if (threadIdx.x == 0) f[1 + blockIdx.x] = sum;
}
