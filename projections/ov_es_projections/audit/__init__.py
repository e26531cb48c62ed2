"""One invariant of the log in each file, named for what it forbids."""
