"""The demo: one working day of an agent on this machine alone, with a crash in the middle."""
