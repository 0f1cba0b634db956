"""The kernels of the lecture, and the record that describes one."""
