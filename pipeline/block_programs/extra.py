"""What programs import from ``triton.language.extra``: the device library."""

from types import SimpleNamespace

from pipeline.block_programs import libdevice

cuda = SimpleNamespace(libdevice=libdevice)

__all__ = ["cuda", "libdevice"]
