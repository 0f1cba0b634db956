// Three ways to transpose an n x n matrix; docs/COMPILED.md finds out what is wrong with two of them.
// Launch: grid (n / 32, n / 32), block (32, 8). n a multiple of 32.

extern "C" __global__ void naive(const float* in, float* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int r = 0; r < 32; r += 8)
        out[x * n + y + r] = in[(y + r) * n + x];
}

template <int PITCH>
__device__ void through_tile(const float* in, float* out, int n) {
    __shared__ float tile[32 * PITCH];
    const int col = blockIdx.x * 32, row = blockIdx.y * 32, x = threadIdx.x, y = threadIdx.y;
    for (int r = 0; r < 32; r += 8)
        tile[(y + r) * PITCH + x] = in[(row + y + r) * n + col + x];
    __syncthreads();
    for (int r = 0; r < 32; r += 8)
        out[(col + y + r) * n + row + x] = tile[x * PITCH + y + r];
}

extern "C" __global__ void tiled(const float* in, float* out, int n) { through_tile<32>(in, out, n); }
extern "C" __global__ void padded(const float* in, float* out, int n) { through_tile<33>(in, out, n); }
