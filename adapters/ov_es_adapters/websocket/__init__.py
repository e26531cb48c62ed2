"""The team's socket: frames in, nothing out."""
