"""Data sheets as text: strict YAML, figures with unit and source, messages for mistakes."""
