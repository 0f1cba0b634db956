// Waits for a flag, and stops at a bad number.
extern "C" __global__ void checked(volatile int *flag, int *x)
{
    while (flag[0] == 0) {}
    if (x[threadIdx.x] < 0) __trap();
    x[threadIdx.x] += 1;
}
