"""A unit of work that the team has assigned to the agent."""
