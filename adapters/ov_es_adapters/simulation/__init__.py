"""The real daemon on a virtual clock, against a simulated team."""
