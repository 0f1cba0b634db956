// Just enough CUDA for a C++ compiler to run the kernels of the ladder on the processor.
//
// A block's threads are fibers on one system thread. Each runs until its next barrier, then the
// next thread runs: an order that hardware may take, and one in which a missing barrier shows.
// Lanes that execute an instruction together wait for those of their warp only.
// Asynchronous copies happen as late as they may: when their thread waits for them.
// Compile with -include of this file, -DKERNEL=name of the kernel and -DELEMENT=type of A and B.

#pragma once
#include <ucontext.h>

#include <cmath>
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
struct alignas(8) float2 {
    float x, y;
};
static inline float2 make_float2(float x, float y) { return {x, y}; }
struct half {
    unsigned short bits;
};

extern "C" void KERNEL(const ELEMENT* A, const ELEMENT* B, float* C, int M, int N, int K);

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
    const half* row = nullptr;              // what it hands to ldmatrix, and to mma
    unsigned a[4], b[2];
    bool waits_for_warp = false;
    bool done = false;
};
struct Arguments {
    const ELEMENT *A, *B;
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

namespace host {
// Let the other lanes of the warp come to the same instruction; give the first of them.
static Thread* join_warp() {
    running->waits_for_warp = true;
    swapcontext(&running->context, &scheduler);
    return &threads[(running - &threads[0]) / 32 * 32];
}
static int lane() { return static_cast<int>((running - &threads[0]) % 32); }

// Element of a register of two halves.
static float element(unsigned pair, int which) {
    const int bits = pair >> 16 * which & 0xffff;
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float size = exponent ? std::ldexp(1024.0f + fraction, exponent - 25)
                                : std::ldexp(float(fraction), -24);
    return bits >> 15 ? -size : size;
}

static void load_matrices(unsigned (&r)[4], const half* row, bool transposed) {
    running->row = row;
    const Thread* warp = join_warp();
    const int g = lane() / 4, t = lane() % 4;
    for (int j = 0; j < 4; ++j) {
        unsigned pair[2];
        for (int h = 0; h < 2; ++h)
            pair[h] = transposed ? warp[8 * j + 2 * t + h].row[g].bits
                                 : warp[8 * j + g].row[2 * t + h].bits;
        r[j] = pair[0] | pair[1] << 16;
    }
    join_warp();
}
}  // namespace host

static inline void ldmatrix(unsigned (&r)[4], const half* row) {
    host::load_matrices(r, row, false);
}
static inline void ldmatrix_trans(unsigned (&r)[4], const half* row) {
    host::load_matrices(r, row, true);
}

// m16n8k16, by the fragments of the PTX ISA: element (i, k) of A is with lane 4 (i % 8) + k % 8 / 2,
// element (k, j) of B with lane 4 j + k % 8 / 2.
static inline void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    std::memcpy(host::running->a, a, sizeof(a));
    host::running->b[0] = b0;
    host::running->b[1] = b1;
    const host::Thread* warp = host::join_warp();
    for (int e = 0; e < 4; ++e) {
        const int i = host::lane() / 4 + 8 * (e / 2), j = host::lane() % 4 * 2 + e % 2;
        for (int k = 0; k < 16; ++k)
            c[e] += host::element(warp[4 * (i % 8) + k % 8 / 2].a[i / 8 + 2 * (k / 8)], k % 2) *
                    host::element(warp[4 * j + k % 8 / 2].b[k / 8], k % 2);
    }
    host::join_warp();
}

// Run the lanes of a warp until its next barrier. How many ended.
static size_t run_warp(size_t first) {
    using namespace host;
    const size_t last = first + 32 < threads.size() ? first + 32 : threads.size();
    for (;;) {
        size_t ended = 0, waiting = 0;
        for (size_t t = first; t < last; ++t) {
            running = &threads[t];
            running->waits_for_warp = false;
            const unsigned i = static_cast<unsigned>(t);
            threadIdx = {i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y)};
            swapcontext(&scheduler, &running->context);
            ended += running->done;
            waiting += running->waits_for_warp;
        }
        if (waiting == 0) return ended;
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
        for (size_t first = 0; first < threads.size(); first += 32) ended += run_warp(first);
        if (ended > 0) return ended == threads.size();
    }
}

extern "C" int launch(const ELEMENT* A, const ELEMENT* B, float* C, int M, int N, int K,
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
