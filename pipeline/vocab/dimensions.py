"""Coordinates that several stores share."""

from pipeline.vocab.variable import Variable

DIMENSIONS = {
    "kernel": Variable("1", "kernel id"),
    "kernel_number": Variable("1", "position of the kernel on the ladder"),
    "kernel_label": Variable("1", "name of the kernel as shown to readers"),
    "gpu": Variable("1", "GPU id"),
    "gpu_name": Variable("1", "name of the GPU as shown to readers"),
    "n": Variable("1", "matrix size: A, B and C are n by n"),
    "method": Variable("1", "how counts were carried to this size"),
    "variant": Variable("1", "variant of a kernel"),
}
