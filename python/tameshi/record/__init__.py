"""Study and run folders: events, phases, seal and store."""
