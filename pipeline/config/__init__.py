"""The configuration: what a user may change, and how it is checked before anything runs."""
