// Transpose of a rows x cols matrix through a padded tile; any shape.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[32][32 + 1];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int r = 0; r < 32; r += 8)
        if (x < cols && y + r < rows) tile[threadIdx.y + r][threadIdx.x] = in[(y + r) * cols + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int r = 0; r < 32; r += 8)
        if (x < rows && y + r < cols) out[(y + r) * rows + x] = tile[threadIdx.x][threadIdx.y + r];
}
