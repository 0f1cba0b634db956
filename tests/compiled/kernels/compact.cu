// Keep positive numbers: ballot and population count within the warp, one atomic per warp.
extern "C" __global__ void compact(const float* in, float* out, int* kept, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const float v = i < n ? in[i] : -1.0f;
    const unsigned votes = __ballot_sync(~0u, v > 0.0f);
    int base = 0;
    if (lane == 0 && votes) base = atomicAdd(kept, __popc(votes));
    base = __shfl_sync(~0u, base, 0);
    if (v > 0.0f) out[base + __popc(votes & ((1u << lane) - 1))] = v;
    if (__any_sync(~0u, v > 100.0f) && __all_sync(~0u, v < 1e9f) && lane == 5) out[0] += 0.0f;
}
