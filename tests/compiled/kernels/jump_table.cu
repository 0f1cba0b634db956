// A switch that becomes a jump through a table.
extern "C" __global__ void jump_table(const int* in, const int* table, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i];
    switch (v) {
        case 0: v = table[1]; break;
        case 1: v = table[i % 9] * 3; break;
        case 2: v ^= table[3]; break;
        case 3: v = __popc(table[i % 7]); break;
        case 4: v = in[5] / 7; break;
        case 5: v = table[2] % 11; break;
        case 6: v = v * table[2]; break;
        case 7: v = min(v, table[6]); break;
        case 8: v += table[8]; break;
        default: v = -1;
    }
    out[i] = v;
}
