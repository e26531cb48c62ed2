"""The log on SQLite and PostgreSQL, through the eventsourcing library's interfaces."""
