"""What is derived from the log, and can be thrown away and rebuilt."""
