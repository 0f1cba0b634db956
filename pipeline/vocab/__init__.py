"""Names, units and meanings of every variable that a result may hold."""
