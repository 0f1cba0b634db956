"""Tests of the artifacts; a package, because its conftest shares a name with others."""
