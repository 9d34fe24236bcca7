"""Study files, and the bindings of their names to real storage."""
