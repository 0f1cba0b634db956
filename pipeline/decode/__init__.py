"""One decode step of a language model: bytes to read, ways to launch, seconds."""
