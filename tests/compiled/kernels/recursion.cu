// A function that calls itself: its stack is known to nobody.
__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(int *out, int n)
{
    if (threadIdx.x < n) out[threadIdx.x] = fibonacci(threadIdx.x % 9);
}
