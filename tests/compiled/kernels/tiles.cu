// Halves of a warp that reduce apart from each other.
__device__ __forceinline__ unsigned half_mask()
{
    return 0xffffu << (threadIdx.x & 16);
}

extern "C" __global__ void tiles(const int *x, int *total, int *largest)
{
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    int sum = __reduce_add_sync(half_mask(), v), most = __reduce_max_sync(half_mask(), v);
    if ((threadIdx.x & 15) == 0) {
        atomicAdd(total, sum);
        largest[(blockIdx.x * blockDim.x + threadIdx.x) / 16] = most;
    }
}
