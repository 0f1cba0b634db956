// Inclusive scan of each block's integers by shuffles up; block sums in a second array.
extern "C" __global__ void scan(const int* in, int* out, int* sums, int n) {
    __shared__ int warp_sum[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int v = i < n ? in[i] : 0;
    for (int s = 1; s < 32; s *= 2) {
        const int other = __shfl_up_sync(~0u, v, s);
        if (lane >= s) v += other;
    }
    if (lane == 31) warp_sum[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        int w = threadIdx.x < blockDim.x / 32 ? warp_sum[lane] : 0;
        for (int s = 1; s < 32; s *= 2) {
            const int other = __shfl_up_sync(~0u, w, s);
            if (lane >= s) w += other;
        }
        warp_sum[lane] = w;
    }
    __syncthreads();
    if (threadIdx.x >= 32) v += warp_sum[threadIdx.x / 32 - 1];
    if (i < n) out[i] = v;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = v;
}
