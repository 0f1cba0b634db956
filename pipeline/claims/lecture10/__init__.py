"""What lecture 10 says about its results."""
