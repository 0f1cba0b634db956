"""Sum the rows of an n by n matrix in four ways: atomics alone, two trees, and shuffles.

A block of 256 threads takes 256 elements of one row: its tile is 256 by 1, and row blk.by of the
grid works on row blk.by of the matrix. What a block has summed up goes to out by an atomic, because
the blocks of a row end in any order. All four kernels read the same bytes. What differs is how the
threads of a block put their values together. The number of threads must be a power of two, 32 or
more.
"""


def row_sums(x):
    """Specification: what `out` must hold."""
    return x.sum(axis=1)


def atomics(blk, x, out, n):
    """Let every thread add its own value: the 32 lanes of a warp wait for each other."""
    with blk.where(column(blk) < n):
        blk.atomic_add(out, blk.by, element(blk, x, n))


def interleaved(blk, x, out, n):
    """Add neighbours, then neighbours of neighbours: the active threads lie ever further apart.

    In step s thread t works on words 2 s t and 2 s t + s, so its warp meets 2 s words to a bank.
    """
    sums = blk.shared("sums", blk.n_threads)
    blk.sstore(sums, blk.tid, element(blk, x, n))
    step = 1
    while step < blk.n_threads:
        blk.sync()  # the sums of the step before are there
        first = 2 * step * blk.tid
        with blk.where(first < blk.n_threads):
            blk.sstore(sums, first, blk.sload(sums, first) + blk.sload(sums, first + step))
        step *= 2
    add_to_row(blk, out, sums)


def halved(blk, x, out, n):
    """Add the upper half to the lower half, again and again: neighbours work on neighbours."""
    sums = blk.shared("sums", blk.n_threads)
    blk.sstore(sums, blk.tid, element(blk, x, n))
    step = blk.n_threads // 2
    while step > 0:
        blk.sync()  # the sums of the step before are there
        with blk.where(blk.tid < step):
            blk.sstore(sums, blk.tid, blk.sload(sums, blk.tid) + blk.sload(sums, blk.tid + step))
        step //= 2
    add_to_row(blk, out, sums)


def shuffled(blk, x, out, n):
    """Add within each warp by shuffles, which need no shared memory and no barrier."""
    warps = blk.n_threads // 32
    sums = blk.shared("sums", warps)
    total = warp_sum(blk, element(blk, x, n))
    with blk.where(blk.lane == 0):
        blk.sstore(sums, blk.warp, total)
    blk.sync()  # the sum of every warp is there
    with blk.where(blk.warp == 0):
        with blk.where(blk.lane < warps):
            total = blk.sload(sums, blk.lane)  # 0 for the other lanes
        total = warp_sum(blk, total)
        with blk.where(blk.lane == 0):
            blk.atomic_add(out, blk.by, total)


def column(blk):
    """Column of x that a thread takes."""
    return blk.bx * blk.n_threads + blk.tid


def element(blk, x, n):
    """Read the element of a thread; 0 beyond the end of the row."""
    with blk.where(column(blk) < n):
        return blk.load(x, blk.by * n + column(blk))


def warp_sum(blk, value):
    """Sum a value over the lanes of a warp; lane 0 gets the sum."""
    for distance in (16, 8, 4, 2, 1):
        value = value + blk.shfl_down(value, distance)
    return value


def add_to_row(blk, out, sums):
    """Let one thread of the block add the first sum to its row."""
    with blk.where(blk.tid == 0):
        blk.atomic_add(out, blk.by, blk.sload(sums, blk.tid))
