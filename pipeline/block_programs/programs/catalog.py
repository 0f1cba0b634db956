"""Every program of the collection, in the order in which they are shown."""

from pipeline.block_programs.programs import (
    attention,
    dropout,
    layer_norm,
    matmul,
    softmax,
    vector_add,
)
from pipeline.block_programs.programs.program import Program

EVERY = (
    vector_add.PROGRAM,
    softmax.PROGRAM,
    matmul.PROGRAM,
    layer_norm.PROGRAM,
    layer_norm.BACKWARD,
    attention.PROGRAM,
    attention.CAUSAL,
    dropout.PROGRAM,
)

PROGRAMS: dict[str, Program] = {program.id: program for program in EVERY}
"""Program id -> program."""
