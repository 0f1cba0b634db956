"""What lecture 11 says about its results."""
