"""What others measured and published, read from tables with sources."""
