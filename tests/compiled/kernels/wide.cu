// Indices, minima and maxima of 64 bits.
#include <cstdint>

extern "C" __global__ void wide(int64_t n, const int64_t* x, const uint64_t* y, int64_t* out) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        out[i] = max(x[i], (int64_t)y[i]);
        out[n + i] = min(y[i], (uint64_t)x[i]);
        out[2 * n + i] = x[i] / ((int64_t)y[i] | 1) + (y[i] << (x[i] & 63));
        out[3 * n + i] = __umul64hi(y[i], x[i]) ^ __brevll(y[i]);
    }
}
