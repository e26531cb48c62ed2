"""The gate between a run's model and the team's tools: it holds the credentials, and sees all."""
