// Steps of the 3n + 1 sequence: loops that end at different times in every lane.
extern "C" __global__ void collatz(const unsigned* start, int* steps, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = start[i];
    int count = 0;
    while (v != 1) {
        if (v % 2) { v = 3 * v + 1; if (v % 3 == 2) count += 0; }
        else v /= 2;
        if (++count > 500) break;
    }
    switch (count % 5) {
        case 0: count += 10; break;
        case 1: count *= 3; break;
        case 3: if (i % 2) count -= 7; else count ^= 21; break;
        default: count = -count;
    }
    steps[i] = count;
}
