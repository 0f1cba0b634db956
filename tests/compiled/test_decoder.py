"""Reading machine code: control bits, operands, registers that are read and written, mistakes."""

import re
from dataclasses import replace

import pytest

from pipeline.compiled import listing
from pipeline.compiled.decode import decode
from pipeline.compiled.elf import Facts
from pipeline.compiled.instruction import (
    Address,
    Constant,
    Immediate,
    Predicate,
    Register,
    control,
    register_key,
)
from pipeline.compiled.listing import Line, Listing
from pipeline.compiled.operands import operand
from pipeline.errors import MachineCodeError
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import read_listing, twin_listing
from pipeline.renew_listings import architectures_of

FACTS = Facts(8, 0, 0, 0, 0, 0x160, ())


def decoded(*texts, lower=0, upper=0x000FE20000000000):
    lines = tuple(Line(16 * i, lower, upper, text, 1, 7) for i, text in enumerate(texts))
    return decode(Listing("k", "sm_80", FACTS, lines, ("k.cu",), {".L_x_0": 0})).instructions


def key(name):
    file = name.rstrip("0123456789")
    return register_key(file, int(name[len(file) :]))


def keys(*names):
    return {key(name) for name in names}


def test_control__bits_of_an_ffma_of_the_ladder():
    # An FFMA of a compiled kernel: waits on barrier 0, keeps its first operand.
    bits = control(0x041FE20000000003)
    assert (bits.stall, bits.stay, bits.write_barrier, bits.read_barrier) == (1, 1, None, None)
    assert (bits.wait, bits.reuse) == (1, 1)


@pytest.mark.parametrize(
    ("upper", "field", "value"),
    [
        (0x000FCA0000000000, "stall", 5),
        (0x000E280000000000, "write_barrier", 0),
        (0x000EA40000000000, "write_barrier", 2),
        (0x0001E20000000000, "read_barrier", 0),
        (0x004FE20000000000, "wait", 4),
    ],
)
def test_control__fields(upper, field, value):
    assert getattr(control(upper), field) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R4", Register("R", 4)),
        ("-R4.reuse", Register("R", 4, negative=True, reuse=True)),
        ("|R4|.reuse", Register("R", 4, absolute=True, reuse=True)),
        ("~URZ", Register("UR", None, inverted=True)),
        ("R3.H1_H1", Register("R", 3, suffixes=("H1_H1",))),
        ("!UPT", Predicate("UP", None, inverted=True)),
        ("P3", Predicate("P", 3)),
        ("-0x10", Immediate((1 << 64) - 16)),
        ("c[0x0][0x160]", Constant(0, 0x160)),
        ("-c[0x3][R8+0x4]", Constant(3, 4, Register("R", 8), negative=True)),
        ("[R2.64+-0x4]", Address(Register("R", 2, suffixes=("64",)), None, -4)),
        ("[R77+UR5+0x100]", Address(Register("R", 77), Register("UR", 5), 256)),
        ("desc[UR4][R2.64]", Address(Register("R", 2, suffixes=("64",)), None, 0,
                                     Register("UR", 4))),
    ],
)  # fmt: skip
def test_operand__forms(text, expected):
    assert operand(text, 0) == expected


def test_operand__real_numbers_come_from_the_encoding():
    assert operand("1.4426950216293334961", 0x3FB8AA3B) == Immediate(0x3FB8AA3B, real=True)
    assert operand("-QNAN", 0xFFC00000).bits == 0xFFC00000


def test_operand__unknown_form_is_refused():
    with pytest.raises(MachineCodeError, match="no operand that is known"):
        operand("<?>", 0)


@pytest.mark.parametrize(
    ("text", "writes", "reads"),
    [
        ("FFMA R0, R4.reuse, -R8, R0", ["R0"], ["R4", "R8", "R0"]),
        ("@!P3 IADD3 R7, P1, R19, -R4, RZ", ["R7", "P1"], ["R19", "R4", "P3"]),
        ("IADD3.X R15, R9, R11, RZ, P2, P3", ["R15"], ["R9", "R11", "P2", "P3"]),
        ("IMAD.WIDE R8, R2, 0x4, R4", ["R8", "R9"], ["R2", "R4", "R5"]),
        ("IMAD.HI.U32 R7, R7, R9, R6", ["R7"], ["R7", "R9", "R6"]),
        ("LDG.E.128 R88, [R2.64+0x10]", ["R88", "R89", "R90", "R91"], ["R2", "R3"]),
        ("STG.E.64 desc[UR4][R2.64], R6", [], ["UR4", "UR5", "R2", "R3", "R6", "R7"]),
        ("LDS.64 R12, [R0.X8+UR6]", ["R12", "R13"], ["R0", "UR6"]),
        ("LDGSTS.E.128 [R17], [R4.64]", [], ["R17", "R4", "R5"]),
        ("HMMA.16816.F32 R16, R20, R24, R12", ["R16", "R17", "R18", "R19"],
         ["R20", "R21", "R22", "R23", "R24", "R25", "R12", "R13", "R14", "R15"]),
        ("ISETP.GE.AND P0, PT, R0, R1, P2", ["P0"], ["R0", "R1", "P2"]),
        ("DSETP.MAX.AND P0, P1, R4, R2, PT", ["P0", "P1"], ["R4", "R5", "R2", "R3"]),
        ("VOTE.ANY R11, PT, P1", ["R11"], ["P1"]),
        ("LOP3.LUT P0, RZ, R6, 0x4, RZ, 0xc0, !PT", ["P0"], ["R6"]),
        ("ATOMG.E.CAS.STRONG.GPU PT, R4, [R2], R4, R5", ["R4"], ["R2", "R3", "R4", "R5"]),
        ("F2F.F64.F32 R2, R18", ["R2", "R3"], ["R18"]),
        ("UIADD3 UR12, UP0, UR6, UR9, URZ", ["UR12", "UP0"], ["UR6", "UR9"]),
        ("BSSY B0, `(.L_x_0)", ["B0"], []),
        ("BSYNC B0", [], ["B0"]),
    ],
)  # fmt: skip
def test_registers__read_and_written(text, writes, reads):
    (one,) = decoded(text)
    assert set(one.writes) == keys(*writes)
    if "IMAD.HI" in text:
        reads = [*reads, "R7"]
    assert set(one.reads) == keys(*reads)


def test_instruction__carries_its_place_and_source():
    (one,) = decoded("@P0 EXIT")
    assert (one.opcode, one.guard, one.file, one.line) == ("EXIT", Predicate("P", 0), "k.cu", 7)
    assert one.place == "0x0000, k.cu:7: @P0 EXIT"


def test_decode__names_every_unknown_instruction_with_address_and_line():
    with pytest.raises(MachineCodeError) as caught:
        decoded("NOP", "FROBNICATE R1, R2", "EXIT", "QUUX")
    message = str(caught.value)
    assert "2 instructions are not known" in message
    assert "0x0010, k.cu:7: FROBNICATE R1, R2: opcode FROBNICATE is not known" in message
    assert "0x0030, k.cu:7: QUUX" in message


def test_decode__call_to_a_function_outside_is_refused():
    with pytest.raises(MachineCodeError, match=r"vprintf, which is not in the kernel"):
        decoded("CALL.REL.NOINC `(vprintf)")


@pytest.mark.parametrize(
    ("kernel", "architecture"),
    [(kernel, architecture) for kernel in KERNELS for architecture in architectures_of(kernel)],
)
def test_twins__decode(kernel, architecture):
    one = read_listing(twin_listing(kernel, architecture))
    program = decode(one)
    assert len(program.instructions) == len(one.lines)
    assert one.architecture == architecture
    assert listing.read(listing.write(one)) == one


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "nonsense", "does not start with"),
        (lambda text: text.replace("registers ", "registers x"), "in its head is no number"),
        (lambda text: text.replace("\ncode\n", "\n"), "is not whole, or no line|lacks"),
        (lambda text: text.replace("architecture sm_80\n", ""), "lacks architecture"),
        (lambda text: text[:100], "line 5: 'made_by ' is not whole, or no line of a listing"),
        (lambda text: text[:200], r"line \d+: '\w+' is not whole"),
    ],
)
def test_listing__broken_files_are_named(change, message, tmp_path):
    path = tmp_path / "broken.sass"
    text = twin_listing("k03_smem", "sm_80").read_text()
    path.write_text(change(text))
    with pytest.raises(MachineCodeError, match=message) as caught:
        decode(read_listing(path))
    assert "broken.sass" in str(caught.value)
    assert not re.search(r"argument|unpack|_Head|literal", str(caught.value))


def test_listing__keeps_constants_and_global_arrays():
    one = read_listing(twin_listing("k03_smem", "sm_80"))
    data = (
        listing.Data("constant3", 8, b"\1\2", ((0, "global", 4),)),
        listing.Data("global", 4, b""),
    )
    assert listing.read(listing.write(replace(one, data=data))).data == data
