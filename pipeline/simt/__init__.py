"""The SIMT block model: what a launch did, counted exactly."""
