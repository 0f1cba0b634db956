// Functions of mathematics in single precision, and conversions.
extern "C" __global__ void mathematics(const float* a, const float* b, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i], y = b[i];
    float r = sqrtf(fabsf(x)) + rsqrtf(fabsf(y) + 1.0f) + x / (fabsf(y) + 0.5f);
    r += expf(-fabsf(x)) + logf(fabsf(y) + 1.0f) + sinf(x) + cosf(y);
    r += tanhf(x) + powf(fabsf(x), 1.5f);
    r += floorf(x) + ceilf(y) + truncf(x * 3) + rintf(y * 3) + fmodf(x, 0.7f);
    r += (float)(int)(x * 100) + (float)(unsigned)fabsf(y * 100);
    r += (float)(short)(x * 10) + (float)(long long)(y * 1000);
    r += __saturatef(x) + copysignf(1.0f, y) + (isnan(x) ? 1.0f : 0.0f);
    r += fminf(x, y) + __fdividef(x, 3.0f);
    r += erff(x) + cbrtf(y) + log2f(fabsf(x) + 1.0f) + exp2f(y) + (x > y) + fdimf(x, y);
    out[i] = r;
}
