// One product of 16 x 8 and 8 x 8 matrices in TF32.
extern "C" __global__ void tf32(const float* a, const float* b, float* c) {
    const int g = threadIdx.x / 4, q = threadIdx.x % 4;
    const float x[] = {a[g * 8 + q], a[(g + 8) * 8 + q], a[g * 8 + q + 4], a[(g + 8) * 8 + q + 4], b[q * 8 + g], b[(q + 4) * 8 + g]};
    unsigned r[6];
    float d[4] = {};
    for (int k = 0; k < 6; ++k) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r[k]) : "f"(x[k]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
    for (int k = 0; k < 4; ++k) c[(g + k / 2 * 8) * 8 + 2 * q + k % 2] = d[k];
}
