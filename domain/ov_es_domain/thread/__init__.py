"""A conversation, and whether the agent is still wanted in it."""
