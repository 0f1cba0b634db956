"""Every opcode that is known, by the class under which it is counted."""

# Classes of instructions in the order in which they are shown.
CLASSES = {
    "fma": "FFMA FMUL FADD",
    "half": "HFMA2 HADD2 HMUL2 HMNMX2 HSETP2 HSET2",
    "double": "DFMA DADD DMUL DMNMX DSETP",
    "tensor": "HMMA IMMA DMMA",
    "integer": (
        "IMAD IADD3 IADD LEA IABS IMNMX VIMNMX VIADD VIADDMNMX VIMNMX3 SHF LOP3 PRMT SGXT BMSK "
        "BREV FLO POPC IDP VABSDIFF VABSDIFF4 SEL"
    ),
    "compare": "ISETP FSETP FSET FMNMX FMNMX3 FSEL FCHK PLOP3 P2R R2P",
    "convert": "I2F F2I F2F FRND I2FP F2FP I2I",
    "special": "MUFU",
    "move": "MOV S2R S2UR CS2R CS2UR QSPC R2UR MOVM B2R",
    "uniform": (
        "UIADD3 UIMAD UISETP UMOV ULDC LDCU ULEA ULOP3 UPLOP3 UPOPC UFLO USHF USEL UPRMT UBREV "
        "USGXT UBMSK UIADD UIABS UVIADD UVIMNMX UFFMA UFADD UFMUL UFSETP UFMNMX UFSEL UI2FP UI2F "
        "UF2FP UF2I UFRND"
    ),
    "load_global": "LDG LD",
    "store_global": "STG ST",
    "load_shared": "LDS LDSM",
    "store_shared": "STS",
    "local": "LDL STL",
    "constant": "LDC",
    "atomic": "ATOMG ATOMS ATOM RED REDG",
    "copy": "LDGSTS LDGDEPBAR DEPBAR",
    "warp": "SHFL VOTE VOTEU MATCH REDUX CREDUX WARPSYNC ENDCOLLECTIVE",
    "barrier": "BAR MEMBAR ERRBAR CGAERRBAR FENCE CCTL",
    "control": (
        "BRA BRX EXIT BSSY BSYNC BREAK BMOV CALL RET NOP YIELD NANOSLEEP PREEXIT ACQBULK BPT"
    ),
}

OPCODES: dict[str, str] = {
    opcode: name for name, opcodes in CLASSES.items() for opcode in opcodes.split()
}

_DRIVER = (
    "calls a function that is not in the code, such as printf, assert or malloc; compile it without"
)
REFUSED = {"LEPC": _DRIVER}
"""Opcodes that cannot be run, and why."""
