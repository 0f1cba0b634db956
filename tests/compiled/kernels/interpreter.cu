// A small machine that every thread runs with another program: a table of jumps, and a stack.
extern "C" __global__ void interpreter(const unsigned char* program, int length, const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int value = in[i], stack[8] = {}, top = 0;
    for (int k = 0; k < length; ++k) {
        switch ((program[k] + i) % 10) {
            case 0: value += 3; break;
            case 1: value *= 5; break;
            case 2: value ^= value >> 3; break;
            case 3: stack[top++ & 7] = value; break;
            case 4: value = stack[--top & 7]; break;
            case 5: value = ~value; break;
            case 6: value /= 7; break;
            case 7: value %= 1001; break;
            case 8: k += value & 1; break;
            default: value = __popc(value) + __clz(value); break;
        }
    }
    out[i] = value;
}
