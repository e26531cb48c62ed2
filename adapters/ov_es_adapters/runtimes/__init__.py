"""Agent programs as child processes, and what their streams say."""
