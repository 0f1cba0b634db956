"""Variables of ``bank_patterns.zarr``: what access patterns cost in shared memory."""

from pipeline.vocab.variable import Variable

BANK_PATTERNS = {
    "pattern": Variable("1", "access pattern of one warp"),
    "pattern_label": Variable("1", "name of the pattern as shown to readers"),
    "lane": Variable("1", "lane of the warp"),
    "instructions": Variable("1", "shared load or store warp instructions"),
    "bytes": Variable("byte", "bytes that the lanes ask for"),
    "wavefronts": Variable("1", "shared-memory wavefronts by the lecture's rule"),
    "ideal_wavefronts": Variable(
        "1", "wavefronts by the lecture's rule if no two words shared a bank"
    ),
    "hardware_wavefronts": Variable("1", "shared-memory wavefronts by the rule of hardware"),
    "hardware_ideal_wavefronts": Variable(
        "1", "wavefronts by the rule of hardware if no two words shared a bank"
    ),
    "access_bytes": Variable("byte", "bytes per lane and instruction"),
    "store": Variable("1", "whether the instructions are stores"),
    "kernel": Variable("1", "kernel that the pattern is taken from; empty for a simple load"),
    "stride": Variable("1", "words from one lane of a simple load to the next; 0 for kernels"),
    "address": Variable("byte", "shared-memory address of each lane in the first instruction"),
}
