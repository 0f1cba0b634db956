"""Tables and figures as files; the same numbers give the same bytes."""
