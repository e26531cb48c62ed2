"""The watcher: intake, dispatch, delivery and reconciliation over the log."""
