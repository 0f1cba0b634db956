// Tiles of 8 lanes that vote, exchange and sum; lanes that find each other where a condition holds.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void cooperative(const int* in, int* out, int* found, int n) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    const int i = block.group_index().x * block.size() + block.thread_rank();
    const int v = i < n ? in[i] : 0;
    const int sum = cg::reduce(tile, v, cg::plus<int>());
    const int any = tile.any(v > 90), odd = tile.ballot(v & 1), other = tile.shfl(v, tile.thread_rank() ^ 3);
    if (i < n && v % 3 == 0) {
        auto active = cg::coalesced_threads();
        int at = 0;
        if (active.thread_rank() == 0) at = atomicAdd(found, (int)active.size());
        found[1 + active.shfl(at, 0) + active.thread_rank()] = v;
    }
    const unsigned same = __match_any_sync(~0u, v & 3);
    if (i < n) out[i] = sum * 4 + any + (odd << 20) + other + __popc(same);
}
