"""Results that were made before, kept under a digest of all that they depend on."""
