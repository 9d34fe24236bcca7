"""Other tools' ways of asking and telling, carried out by our own worker and guard."""
