"""What programs import from ``triton.tools.tensor_descriptor``."""

from pipeline.block_programs.block_pointers import TensorDescriptor

__all__ = ["TensorDescriptor"]
