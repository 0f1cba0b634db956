// Small types and vectors: char4, short2, int4, float2, double2; loads of every width.
extern "C" __global__ void bytes(const char4* c, const short2* s, const int4* q, float2* f,
                                 signed char* o, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const char4 a = c[i];
    const short2 b = s[i];
    const int4 w = __ldg(&q[i]);
    f[i] = make_float2(a.x * b.x + w.x, a.y * b.y - w.w);
    o[i] = (signed char)(a.z + b.y + w.y);
}
