"""Programs in the block language, each with what it must cost, counted by hand."""
