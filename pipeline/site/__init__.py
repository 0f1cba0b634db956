"""The reading copy: a folder of pages that works without a server and without a network."""
