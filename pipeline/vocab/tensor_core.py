"""Fragments of tensor-core instructions, and what ``ldmatrix`` costs in a layout."""

from pipeline.vocab.variable import Variable

FRAGMENTS = {
    "shape": Variable("1", "shape of the instruction as PTX writes it: C is m by n, A m by k"),
    "operand": Variable("1", "matrix: A, B (rows along k), or C, which stands for D as well"),
    "lane": Variable("1", "thread: of a warp for mma, of four warps for wgmma"),
    "element": Variable("1", "element that a lane holds, in the order of its registers"),
    "axis": Variable("1", "axis of the matrix"),
    "coordinate": Variable(
        "1", "row or column of the element; -1 where an operand has no such lane or element"
    ),
    "lanes": Variable("1", "threads that work together"),
    "elements": Variable("1", "elements of each lane; 0 if the operand is read from shared memory"),
    "element_bits": Variable("1", "bits of an element of A and B"),
    "types": Variable("1", "element types of A and B"),
}

LDMATRIX = {
    "row_elems": Variable("1", "16-bit elements in a row of the tile"),
    "layout": Variable("1", "how the rows lie in shared memory"),
    "row0": Variable("1", "first row of the 16 by 16 elements that are loaded"),
    "col0": Variable("1", "first column of the 16 by 16 elements that are loaded"),
    "wavefronts": Variable(
        "1", "shared-memory wavefronts of ldmatrix.x4; 0 where the 16 columns do not fit the row"
    ),
    "ideal_wavefronts": Variable(
        "1", "wavefronts without bank conflicts; 0 where the 16 columns do not fit the row"
    ),
    "extra_bytes": Variable("byte", "shared memory beyond what the rows of the tile need"),
    "tile_rows": Variable("1", "rows of the tile"),
    "cheapest": Variable(
        "1", "layout without conflicts for ldmatrix at every place that wastes the fewest bytes"
    ),
    "cheapest_extra_bytes": Variable("byte", "bytes that the cheapest layout wastes"),
    "row": Variable("1", "row of the tile"),
    "chunk": Variable("1", "16-byte chunk of a row, eight elements"),
    "bank_group": Variable("1", "four banks, of 32, in which a chunk lies"),
    "pictured_row_elems": Variable("1", "16-bit elements in a row whose bank groups are given"),
}
