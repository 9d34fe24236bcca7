"""Running a study: the dispatcher, its workers, the sampler, and the display."""
