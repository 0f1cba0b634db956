// What goes wrong between the threads of a block, one kind for each mode; mode 0 is right.

#include <cuda_pipeline.h>

extern "C" __global__ void hazards(const float* in, float* out, int n, int mode) {
    __shared__ float tile[128];
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (mode == 4 && i >= n) return;  // before a barrier
    if (mode == 5) {
        __pipeline_memcpy_async(&tile[t], &in[i], 4);
        __pipeline_commit();
        out[i] = tile[t];  // the copy may not have arrived
        return;
    }
    if (mode == 6) {
        __pipeline_memcpy_async(&tile[t], &in[i], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        out[i] = tile[t];
        return;
    }
    if (mode != 3) tile[t] = i < n ? in[i] : 0.0f;
    if (mode != 1) __syncthreads();
    const float other = tile[127 - t];
    if (mode == 2) tile[t] = other;  // others may not have read it
    if (mode == 7) tile[t / 2] = other;
    if (mode == 8) atomicAdd(&tile[0], other);
    if (i < n) out[i] = other;
}
