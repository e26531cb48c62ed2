"""A team's world in memory: what the local server and the simulation serve."""
