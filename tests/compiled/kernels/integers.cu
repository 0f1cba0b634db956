// Integer arithmetic of many kinds, one result after the other: out[k * n + i].
extern "C" __global__ void integers(const int* a, const int* b, long long* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int x = a[i], y = b[i];
    const unsigned u = x, v = y | 1;
    const long long r = (long long)x * y;
    const long long results[] = {
        x / (y | 1), x % (y | 1), (long long)(u / v * 3ull), u % v, __popc(u), __clz(v), __brev(u),
        __ffs(u), min(x, y) * 5ll, max(u, v), abs(x), __mulhi(x, y), __umulhi(u, v), r >> (u & 31),
        (long long)((unsigned long long)r >> (v & 63)), r << (u & 15), __byte_perm(u, v, 0x6521),
        __funnelshift_l(u, v, y), __funnelshift_r(u, v, x & 7), __sad(x, y, u),
        (short)x * (signed char)y, r / 7, r % 1000003, __vadd4(u, v), __dp4a(x, y, 3), r / (y | 1),
        (long long)((unsigned long long)r % v), r, r < (long long)u << 20, __clzll(r), __popcll(r)};
    for (int k = 0; k < sizeof(results) / sizeof(results[0]); ++k) out[k * n + i] = results[k];
}
