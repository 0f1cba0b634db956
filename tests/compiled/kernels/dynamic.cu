// Dynamic shared memory, a three-dimensional block, a lock, constant memory, several atomics.
__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int counter = 5;
extern "C" __global__ void dynamic(const float* in, float* out, int* lock, int* slots,
                                   unsigned long long* wide) {
    extern __shared__ float buffer[];
    const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int threads = blockDim.x * blockDim.y * blockDim.z;
    buffer[t] = in[blockIdx.z * threads + t] * weights[t % 8];
    __syncthreads();
    out[blockIdx.z * threads + t] = buffer[threads - 1 - t];
    if (t % 33 == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        slots[0] = slots[0] + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
    atomicMax(&slots[1], t);
    atomicMin(&slots[2], -t);
    atomicOr(&slots[3], 1 << (t % 31));
    atomicXor(&slots[4], t);
    atomicInc((unsigned*)&slots[5], 99);
    atomicAdd(&counter, 1);
    atomicAdd(wide, (unsigned long long)t << 20);
    const int thirds = __syncthreads_count(t % 3 == 0);
    if (thirds == (threads + 2) / 3 && t == 0) atomicAdd(&slots[6], counter > 0);
}
