// y = a x + y in half precision, two at a time; a reduction of the largest in float beside it.
#include <cuda_fp16.h>
extern "C" __global__ void half_axpy(const __half2* x, __half2* y, float* largest, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __half2 factor = __float2half2_rn(a);
    __half2 v = __hfma2(factor, x[i], y[i]);
    if (__hgt(__low2half(v), __high2half(v))) v = __hmul2(v, __float2half2_rn(0.5f));
    v = __hmax2(v, __hadd2(x[i], __hneg2(y[i])));
    y[i] = v;
    const float2 f = __half22float2(v);
    largest[i] = fmaxf(f.x, f.y) + __half2float(__hmul(__low2half(v), __high2half(v)));
}
