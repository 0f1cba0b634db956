// Bitonic sort of 512 keys per block in shared memory.
extern "C" __global__ void bitonic(int* keys) {
    __shared__ int s[512];
    const int t = threadIdx.x;
    s[t] = keys[blockIdx.x * 512 + t];
    s[t + 256] = keys[blockIdx.x * 512 + t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            const int i = 2 * t - (t & (stride - 1)), j = i + stride;
            const bool up = (i & size) == 0;
            const int a = s[i], b = s[j];
            if ((a > b) == up) { s[i] = b; s[j] = a; }
        }
    __syncthreads();
    keys[blockIdx.x * 512 + t] = s[t];
    keys[blockIdx.x * 512 + t + 256] = s[t + 256];
}
