"""One cycle of work for one source, with its attempts."""
