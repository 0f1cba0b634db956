// Layer normalisation of every row, one block per row, two passes with IEEE division and root.
__device__ float block_sum(float v, float* shared) {
    for (int s = 16; s; s >>= 1) v += __shfl_xor_sync(~0u, v, s);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? shared[threadIdx.x] : 0.0f;
    if (threadIdx.x < 32) {
        for (int s = 16; s; s >>= 1) v += __shfl_xor_sync(~0u, v, s);
        if (threadIdx.x == 0) shared[0] = v;
    }
    __syncthreads();
    v = shared[0];
    __syncthreads();
    return v;
}
extern "C" __global__ void layernorm(const float* in, const float* gamma, const float* beta,
                                     float* out, int cols, float eps) {
    __shared__ float shared[32];
    const float* from = in + blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += from[c];
    const float mean = block_sum(sum, shared) / cols;
    float square = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float d = from[c] - mean;
        square += d * d;
    }
    const float scale = 1.0f / sqrtf(block_sum(square, shared) / cols + eps);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[blockIdx.x * cols + c] = (from[c] - mean) * scale * gamma[c] + beta[c];
}
