"""Lecture 10: matrix multiplication step by step."""
