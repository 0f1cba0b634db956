"""Counts at any size: simulation and exact extrapolation."""
