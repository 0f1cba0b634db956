"""Many points at once: spaces, plans, execution on dask, and the sweeps of tiles and timelines."""
