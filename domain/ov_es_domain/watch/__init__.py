"""Who watches for an agent, with the lease and its fencing token."""
