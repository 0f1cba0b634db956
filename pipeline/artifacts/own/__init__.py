"""The kernels of the user's own."""
