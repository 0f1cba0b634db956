"""GPU data sheets and the occupancy rules of the hardware."""
