// One warp fills boxes, another empties them; named barriers for both tell of full and empty ones.
__device__ void sync(int number) { asm volatile("bar.sync %0, 64;" ::"r"(number) : "memory"); }
__device__ void arrive(int number) { asm volatile("bar.arrive %0, 64;" ::"r"(number) : "memory"); }

extern "C" __global__ void producer(const float* in, float* out) {
    __shared__ float box[2][32];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 4; ++k) {
            if (k >= 2) sync(3 + (k & 1));
            box[k & 1][lane] = 2 * in[k * 32 + lane];
            arrive(1 + (k & 1));
        }
    } else {
        for (int k = 0; k < 4; ++k) {
            sync(1 + (k & 1));
            out[k * 32 + lane] = box[k & 1][31 - lane];
            if (k < 2) arrive(3 + (k & 1));
        }
    }
}
