// Made with: nvcc -cubin -arch=sm_90 -o scale_sm_90.cubin scale.cu
extern "C" __global__ void quiet() {}
__global__ void scale(float* x, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
