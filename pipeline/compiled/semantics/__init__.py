"""What every opcode does, on rows of lanes; one module per class of instructions."""
