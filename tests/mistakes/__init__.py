"""Wrong inputs in tables, each with what a person must read."""
