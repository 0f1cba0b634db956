"""Tables and figures of the lectures."""
