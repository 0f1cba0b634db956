"""DRAM traffic that is known for a kernel by itself, whatever the GPU."""

from pipeline.vocab.variable import Variable

TRAFFIC = {
    "compulsory_bytes": Variable(
        "byte", "DRAM traffic if every array passes once for each way: read, written"
    ),
}
