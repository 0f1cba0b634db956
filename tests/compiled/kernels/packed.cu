// Several small numbers in a word, and a product of matrices of doubles.
extern "C" __global__ void packed(const unsigned *a, const unsigned *b, int *out,
                                  const double *p, const double *q, double *r)
{
    int i = threadIdx.x;
    unsigned x = a[i], y = b[i];
    out[i] = __dp2a_lo((int)x, (int)y, 7);
    out[32 + i] = __dp2a_hi(x, y, 5u);
    out[64 + i] = __vabsdiffu4(x, y);
    out[96 + i] = __vmaxs2(x, y);
    out[128 + i] = __vminu4(x, y);
    double c0 = 1, c1 = 2;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c0), "+d"(c1) : "d"(p[i]), "d"(q[i]));
    r[2 * i] = c0;
    r[2 * i + 1] = c1;
}
