// Double precision rounded down, up and to zero.
extern "C" __global__ void directed(const double* x, const double* y, double* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double a = x[i], b = y[i];
    const double r[] = {
        __dadd_rd(a, b), __dadd_ru(a, b), __dadd_rz(a, b), __dmul_rd(a, b), __dmul_ru(a, b), __dmul_rz(a, b),
        __fma_rd(a, b, 1.0), __fma_ru(a, b, 1.0), __ddiv_ru(a, b), __dsqrt_rd(fabs(a)),
        __ll2double_rz(__double_as_longlong(b)), __ll2double_rd(__double_as_longlong(b)), (double)__ll2float_rz(__double_as_longlong(a)),
    };
    for (int k = 0; k < 13; ++k) out[k * n + i] = r[k];
}
