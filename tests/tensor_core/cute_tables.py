"""Make the tables in tests/data/cute from NVIDIA's own definitions.

    pip download --no-deps nvidia-cutlass==4.2.0.0
    unzip nvidia_cutlass-4.2.0.0-py3-none-any.whl -d cutlass
    python tests/tensor_core/cute_tables.py cutlass

Layouts are read out of the CuTe headers, ``Layout<Shape<...>, Stride<...>>``, and evaluated by
pycute, which the wheel contains. Nothing of Paper GPU is imported.
"""

import ast
import csv
import hashlib
import re
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TABLES = Path(__file__).resolve().parent.parent / "data" / "cute"
RECIPE = (
    "# {what}\n# Layouts of the CuTe headers in the wheel nvidia-cutlass 4.2.0.0, evaluated with "
    "its pycute.\n# Made by `python tests/tensor_core/cute_tables.py CUTLASS`; {how}.\n"
)

# Shape and element types -> the traits that define it, all of which must agree.
MMA_ATOMS = {
    "m16n8k4": ("SM80_16x8x4_F32TF32TF32F32_TN",),
    "m16n8k8": (
        "SM75_16x8x8_F32F16F16F32_TN",
        "SM80_16x8x8_F16F16F16F16_TN",
        "SM80_16x8x8_F32F16F16F32_TN",
        "SM80_16x8x8_F32BF16BF16F32_TN",
    ),
    "m16n8k8_tf32": ("SM80_16x8x8_F32TF32TF32F32_TN",),
    "m16n8k16": (
        "SM80_16x8x16_F16F16F16F16_TN",
        "SM80_16x8x16_F32F16F16F32_TN",
        "SM80_16x8x16_F32BF16BF16F32_TN",
    ),
    "m16n8k16_int8": ("SM80_16x8x16_S32S8S8S32_TN", "SM80_16x8x16_S32U8U8S32_TN"),
    "m16n8k32": (
        "SM80_16x8x32_S32S8S8S32_TN",
        "SM80_16x8x32_S32S8U8S32_TN",
        "SM80_16x8x32_S32U8S8S32_TN",
        "SM80_16x8x32_S32U8U8S32_TN",
        "SM89_16x8x32_F32E4M3E4M3F32_TN",
        "SM89_16x8x32_F32E4M3E5M2F32_TN",
        "SM89_16x8x32_F32E5M2E4M3F32_TN",
        "SM89_16x8x32_F32E5M2E5M2F32_TN",
    ),
}
# Sides of an operand that a layout runs over: (M, K), (N, K), (M, N), the first one fastest.
SIDES = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}

MOVES = {
    ("ldmatrix", 1, False): "SM75_U32x1_LDSM_N",
    ("ldmatrix", 2, False): "SM75_U32x2_LDSM_N",
    ("ldmatrix", 4, False): "SM75_U32x4_LDSM_N",
    ("ldmatrix", 1, True): "SM75_U16x2_LDSM_T",
    ("ldmatrix", 2, True): "SM75_U16x4_LDSM_T",
    ("ldmatrix", 4, True): "SM75_U16x8_LDSM_T",
    ("stmatrix", 1, False): "SM90_U32x1_STSM_N",
    ("stmatrix", 2, False): "SM90_U32x2_STSM_N",
    ("stmatrix", 4, False): "SM90_U32x4_STSM_N",
    ("stmatrix", 1, True): "SM90_U16x2_STSM_T",
    ("stmatrix", 2, True): "SM90_U16x4_STSM_T",
    ("stmatrix", 4, True): "SM90_U16x8_STSM_T",
}
ROW_BITS = 128
SPELT_OUT = (8, 16, 24)


def headers(cutlass: Path) -> str:
    """All traits as one text, without comments and line breaks."""
    folder = cutlass / "cutlass_library/source/include/cute/atom"
    text = "".join(path.read_text() for path in sorted(folder.glob("*_traits_sm[789]*.hpp")))
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL))


def tuples(text: str) -> Any:
    """``Shape<_4, Shape<_2,_2>>`` as ``(4, (2, 2))``."""
    plain = re.sub(r"\b_(\d+)", r"\1", re.sub(r"(Shape|Stride)\s*<", "(", text.replace(" ", "")))
    return ast.literal_eval(plain.replace(">", ",)"))


def layout(source: str, text: str) -> Any:
    """The pycute layout that a text stands for: written out, or a name given to one."""
    from pycute import Layout

    text = text.strip()
    if text.startswith("Layout"):
        shape, stride = re.fullmatch(r"Layout\s*<(Shape.*?),\s*(Stride.*)>", text).groups()
        return Layout(tuples(shape), tuples(stride))
    if found := re.fullmatch(r"typename Copy_Traits<(\w+)>::(\w+)", text):
        return member(source, "Copy_Traits", *found.groups())
    return layout(source, re.search(rf"using {text}\s*= (Layout.*?);", source)[1])


def member(source: str, kind: str, atom: str, name: str) -> Any:
    """A layout of the traits of an atom, or of the traits that they inherit from."""
    found = re.search(rf"struct {kind}<{atom}>\s*(?:: {kind}<(\w+)>\s*)?\{{(.*?)\}};", source)
    base, body = found.groups()
    given = re.search(rf"using {name}\s*= (.*?);", body)
    return layout(source, given[1]) if given else member(source, kind, base, name)


def sizes(source: str, atom: str) -> tuple[int, ...]:
    """M, N and K of an atom."""
    found = re.search(
        rf"struct MMA_Traits<{atom}>\s*(?:: MMA_Traits<(\w+)>\s*)?\{{(.*?)\}};", source
    )
    given = re.search(r"using Shape_MNK = (Shape.*?);", found[2])
    return tuples(given[1]) if given else sizes(source, found[1])


def places(found: Any, rows: int) -> list[list[tuple[int, int]]]:
    """Per thread and value the row and column of an offset that counts down the columns."""
    from pycute import size

    threads, values = (size(mode) for mode in found.shape)
    return [
        [(found(thread, value) % rows, found(thread, value) // rows) for value in range(values)]
        for thread in range(threads)
    ]


def digest(numbers: Any) -> str:
    """SHA-256 of numbers as 64-bit little-endian integers, shortened."""
    wide = array("q", numbers)
    if sys.byteorder == "big":
        wide.byteswap()
    return hashlib.sha256(wide.tobytes()).hexdigest()[:16]


def fragment_rows(source: str) -> Iterator[list[Any]]:
    """Lines of the table of fragments."""
    for shape, atoms in MMA_ATOMS.items():
        for operand, (down, along) in SIDES.items():
            found = {}
            for atom in atoms:
                mnk = sizes(source, atom)
                held = places(member(source, "MMA_Traits", atom, f"{operand}Layout"), mnk[down])
                if operand == "B":
                    held = [[(k, n) for n, k in lane] for lane in held]
                assert len(held) * len(held[0]) == mnk[down] * mnk[along]
                found[atom] = held
            assert all(held == found[atoms[0]] for held in found.values())
            yield from written(shape, operand, " ".join(atoms), found[atoms[0]], range(32))
    yield from wgmma_rows(source)


def wgmma_rows(source: str) -> Iterator[list[Any]]:
    """Lines of wgmma: A in registers, and the accumulator for every N."""
    held = places(layout(source, "ALayout_64x16"), 64)
    yield from written("m64n8k16", "A", "SM90 GMMA::ALayout_64x16", held, range(128))
    template = re.search(r"using CLayout_64xN\s*= (Layout.*?);", source)[1]
    for n in range(8, 257, 8):
        held = places(layout(source, template.replace("Int<N/8>", f"_{n // 8}")), 64)
        lanes = range(128) if n in SPELT_OUT else ()
        yield from written(f"m64n{n}k16", "C", f"SM90 GMMA::CLayout_64x{n}", held, lanes)


def written(shape: str, operand: str, atoms: str, held: Any, lanes: Any) -> Iterator[list[Any]]:
    """One line with the digest of all lanes, and one for each of ``lanes``."""
    numbers = [number for lane in held for place in lane for number in place]
    yield [shape, operand, atoms, "all", digest(numbers)]
    for lane in lanes:
        yield [shape, operand, "", lane, " ".join(f"{row}:{column}" for row, column in held[lane])]


def move_rows(source: str) -> Iterator[list[Any]]:
    """Lines of ldmatrix and stmatrix: which 16-bit element of whose row each half comes from."""
    for (instruction, pieces, transposed), atom in MOVES.items():
        inside, outside = ("Dst", "Src") if instruction == "ldmatrix" else ("Src", "Dst")
        registers = member(source, "Copy_Traits", atom, f"{inside}Layout")
        rows = member(source, "Copy_Traits", atom, f"{outside}Layout")
        owner = {rows(lane, 0): lane for lane in reversed(range(8 * pieces))}
        for lane in range(32):
            bits = [registers(lane, 16 * half) for half in range(2 * pieces)]
            found = [(owner[bit - bit % ROW_BITS], bit % ROW_BITS // 16) for bit in bits]
            text = " ".join(f"{source_lane}:{element}" for source_lane, element in found)
            yield [instruction, pieces, int(transposed), atom, lane, text]


def swizzle_rows() -> Iterator[list[Any]]:
    """Lines of every swizzle of up to three bits; pycute knows no shift of 0."""
    from pycute import Swizzle

    for bits in range(4):
        for base in range(6):
            for distance in range(max(bits, 1), 7):
                for shift in sorted({distance, -distance}):
                    swizzle = Swizzle(bits, base, shift)
                    images = " ".join(str(swizzle(1 << bit)) for bit in range(16))
                    yield [bits, base, shift, images, digest(map(swizzle, range(1 << 16)))]


def shared_rows(source: str) -> Iterator[list[Any]]:
    """Lines of wgmma's swizzled tiles: byte offset of every 16-byte chunk of eight rows."""
    from pycute import Layout, Swizzle

    for width in (32, 64, 128):
        name = f"Layout_K_SW{width}_Atom"
        pattern = (
            rf"using {name}_Bits\s*= ComposedLayout<Swizzle<(.*?)>, smem_ptr_flag, (Layout.*?)>;"
        )
        numbers, text = re.search(pattern, source).groups()
        parameters = [int(number) for number in numbers.split(",")]
        swizzle, bits = Swizzle(*parameters), layout(source, text)
        assert isinstance(bits, Layout)
        for row in range(8):
            offsets = [swizzle(bits(row, 128 * chunk) // 8) for chunk in range(width // 16)]
            yield [f"GMMA::{name}", *parameters, row, " ".join(map(str, offsets))]


def write(name: str, what: str, how: str, columns: str, rows: Iterator[list[Any]]) -> None:
    """Write one table."""
    with (TABLES / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        file.write(RECIPE.format(what=what, how=how))
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns.split())
        table.writerows(rows)


def main(cutlass: Path) -> None:
    """Write all tables."""
    sys.path.insert(0, str(cutlass))
    source = headers(cutlass)
    write(
        "fragments",
        "Row and column of every element that a lane holds.",
        "lane `all` has 16 digits of SHA-256 over the coordinates, int64, by lane, element, axis",
        "shape operand atoms lane coordinates",
        fragment_rows(source),
    )
    write(
        "moves",
        "Where each 16-bit half of a lane's registers lies: lane that points at the row, element.",
        "for ldmatrix where it comes from, for stmatrix where it goes",
        "instruction pieces transposed atom lane places",
        move_rows(source),
    )
    write(
        "swizzles",
        "Swizzle<bits, base, shift>.",
        "images of the powers of two; digest as in fragments.csv over all 65,536 offsets",
        "bits base shift images digest",
        swizzle_rows(),
    )
    write(
        "shared",
        "Swizzled tiles of wgmma in shared memory, K along the rows.",
        "byte offsets of the 16-byte chunks of each row",
        "atom bits base shift row offsets",
        shared_rows(source),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
