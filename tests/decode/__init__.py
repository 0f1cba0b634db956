"""Tests of the decode step; a package, because they share generators."""
