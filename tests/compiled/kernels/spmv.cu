// A sparse matrix by rows times a vector, a warp for each row.
extern "C" __global__ void spmv(int rows, const int* __restrict__ first, const int* __restrict__ columns,
                                const float* __restrict__ values, const float* __restrict__ x, float* y) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int k = first[row] + lane; k < first[row + 1]; k += 32) sum += values[k] * __ldg(&x[columns[k]]);
    for (int far = 16; far; far >>= 1) sum += __shfl_xor_sync(~0u, sum, far);
    if (lane == 0) y[row] = sum;
}
