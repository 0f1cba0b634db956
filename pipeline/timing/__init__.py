"""Counts to seconds: tile order, DRAM traffic, roofline."""
