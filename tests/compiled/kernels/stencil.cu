// Five-point stencil with edges left alone, and a one-dimensional index taken apart by division.
extern "C" __global__ void stencil(const float* in, float* out, int rows, int cols) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    const int y = i / cols, x = i % cols;
    float v = in[i];
    if (x > 0 && x < cols - 1 && y > 0 && y < rows - 1)
        v = 0.2f * (v + in[i - 1] + in[i + 1] + in[i - cols] + in[i + cols]);
    out[i] = v;
}
