"""Paper GPU: kernels on a GPU made of arrays, from exact counters to lecture artifacts."""
