"""The words that the watcher looks for, as data: English here, a team's own beside it."""
