"""What arrives, and the one outcome that each arrival has."""
