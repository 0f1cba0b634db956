// Softmax of every row, one warp per row, any number of columns.
extern "C" __global__ void softmax(const float* in, float* out, int rows, int cols) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* from = in + (size_t)row * cols;
    float* to = out + (size_t)row * cols;
    float top = -INFINITY;
    for (int c = lane; c < cols; c += 32) top = fmaxf(top, from[c]);
    for (int s = 16; s; s >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
    float sum = 0.0f;
    for (int c = lane; c < cols; c += 32) sum += __expf(from[c] - top);
    for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(~0u, sum, s);
    for (int c = lane; c < cols; c += 32) to[c] = __expf(from[c] - top) / sum;
}
