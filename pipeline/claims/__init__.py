"""Statements about results that check themselves."""
