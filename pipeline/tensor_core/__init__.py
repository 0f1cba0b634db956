"""What one tensor-core instruction asks of the lanes of a warp, and of shared memory."""
