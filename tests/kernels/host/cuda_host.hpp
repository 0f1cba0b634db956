// Just enough CUDA for a C++ compiler to run the kernels of the ladder on the processor.
//
// A block's threads are fibers on one system thread. Each runs until its next barrier, then the
// next thread runs: an order that hardware may take, and one in which a missing barrier shows.
// Asynchronous copies happen as late as they may: when their thread waits for them.
// Compile with -include of this file and -DKERNEL=name of the kernel.

#pragma once
#include <ucontext.h>

#include <cstring>
#include <vector>

#define __global__
#define __device__ static inline
#define __shared__ static
#define __launch_bounds__(...)

struct Index {
    unsigned x, y, z;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

extern "C" void KERNEL(const float* A, const float* B, float* C, int M, int N, int K);

namespace host {
struct Copy {
    void* to;
    const void* from;
    size_t bytes;
};
struct Thread {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(1 << 16);
    std::vector<std::vector<Copy>> groups;  // committed and not yet waited for, oldest first
    std::vector<Copy> open;                 // not yet committed
    bool done = false;
};
struct Arguments {
    const float *A, *B;
    float* C;
    int M, N, K;
};
static std::vector<Thread> threads;
static Thread* running;
static ucontext_t scheduler;
static Arguments arguments;

static void body() {
    const Arguments& a = arguments;
    KERNEL(a.A, a.B, a.C, a.M, a.N, a.K);
    running->done = true;
}
}  // namespace host

static Index threadIdx, blockIdx, blockDim;

static inline void __syncthreads() { swapcontext(&host::running->context, &host::scheduler); }

static inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes) {
    host::running->open.push_back({to, from, bytes});
}
static inline void __pipeline_commit() {
    host::running->groups.push_back(std::move(host::running->open));
    host::running->open.clear();
}
static inline void __pipeline_wait_prior(size_t newest) {
    auto& groups = host::running->groups;
    while (groups.size() > newest) {
        for (const host::Copy& c : groups.front()) std::memcpy(c.to, c.from, c.bytes);
        groups.erase(groups.begin());
    }
}

// Run one block. False where some threads ended while others stood at a barrier.
static bool run_block() {
    using namespace host;
    for (Thread& thread : threads) {
        thread.done = false;
        thread.groups.clear();
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = thread.stack.size();
        thread.context.uc_link = &scheduler;
        makecontext(&thread.context, body, 0);
    }
    for (;;) {
        size_t ended = 0;
        for (size_t t = 0; t < threads.size(); ++t) {
            running = &threads[t];
            const unsigned i = static_cast<unsigned>(t);
            threadIdx = {i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y)};
            swapcontext(&scheduler, &running->context);
            ended += running->done;
        }
        if (ended > 0) return ended == threads.size();
    }
}

extern "C" int launch(const float* A, const float* B, float* C, int M, int N, int K,
                      const unsigned* grid, const unsigned* block) {
    host::arguments = {A, B, C, M, N, K};
    blockDim = {block[0], block[1], block[2]};
    host::threads.clear();
    host::threads.resize(size_t(block[0]) * block[1] * block[2]);
    for (unsigned x = 0; x < grid[0]; ++x)
        for (unsigned y = 0; y < grid[1]; ++y) {
            blockIdx = {x, y, 0};
            if (!run_block()) return 1;
        }
    return 0;
}
