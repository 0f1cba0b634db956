"""One streaming multiprocessor, replayed cycle by cycle on decoded machine code."""
