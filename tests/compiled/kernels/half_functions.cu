// Functions and comparisons in half precision, and in bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_functions(const __half2* a, const __half2* b, __half2* out, float* sums, __nv_bfloat16* scaled, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __half2 x = a[i], y = b[i];
    __half2 r = __hadd2(__hfma2(x, y, __float2half2_rn(0.5f)), __hmul2(x, x));
    if (__hgt(__low2half(r), __high2half(r))) r = __lowhigh2highlow(r);
    out[i] = __hadd2(__hmax2(r, __hneg2(y)), __hgt2(x, y));
    sums[i] = __half2float(h2exp(x).x) + __half2float(hsqrt(__habs(y.x))) + __half2float(hrcp(__hadd(__habs(y.y), __float2half(1.0f))));
    scaled[i] = __hmul(__hadd(__float2bfloat16(sums[i]), __float2bfloat16(1.0f)), __float2bfloat16(0.25f));
}
