"""Triton-style programs: a block-level language, and an interpreter that counts what it moves."""
