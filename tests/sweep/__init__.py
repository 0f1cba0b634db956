"""Tests of sweeps; a package, because its tests share functions that workers import."""
