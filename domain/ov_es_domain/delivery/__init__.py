"""One promised message, from the plan to the proof that it is out."""
