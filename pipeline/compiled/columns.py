"""What every instruction of a program is, as columns."""

from typing import Any

from pipeline.compiled.decode import Program
from pipeline.compiled.opcodes import OPCODES


def instruction_columns(program: Program) -> dict[str, list[Any]]:
    """Give address (B), text, class and source line of every instruction; line 0 if not known."""
    return {
        "address": [one.address for one in program.instructions],
        "text": [one.text for one in program.instructions],
        "opcode_class": [OPCODES[one.opcode] for one in program.instructions],
        "source_line": [one.line or 0 for one in program.instructions],
        "source_file": [one.file or "" for one in program.instructions],
    }
