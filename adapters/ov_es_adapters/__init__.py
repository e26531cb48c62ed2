"""Everything that touches the world: it turns I/O into commands and events into I/O."""
