"""Artifacts of lecture 11: one decode step, a hundred kernels."""
