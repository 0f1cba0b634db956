// Double precision: products, division, root, comparison, conversion.
extern "C" __global__ void doubles(const double* a, const double* b, double* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double x = a[i], y = b[i];
    double r = x * y + 0.1 - y / (x * x + 1.0) + sqrt(x * x + y * y);
    r += (double)(float)x + (int)(y * 10);
    r += fmax(x, y) + floor(x) + exp(-x * x);
    if (r > 3.0) r -= (double)(long long)(r * 8);
    out[i] = r + i;
}
