// Sum of n floats: grid-stride loop, tree in shared memory, last warp by shuffles, one atomic.
extern "C" __global__ void reduce_sum(const float* x, float* out, int n) {
    __shared__ float part[256];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    part[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half >= 32; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t < 32) {
        sum = part[t];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
        if (t == 0) atomicAdd(out, sum);
    }
}
