// An array per thread that lies in local memory, indexed by data.
extern "C" __global__ void local_array(const int* in, int* out, int n) {
    int mine[16];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < 16; ++k) mine[k] = in[i] * k;
    int at = in[i] & 15;
    for (int k = 0; k < 8; ++k) { mine[at] += k; at = (at + mine[(at + 5) & 15]) & 15; }
    int sum = 0;
    for (int k = 0; k < 16; ++k) sum += mine[k] ^ k;
    out[i] = sum;
}
