"""Study files, and bindings of their names to real storage."""
