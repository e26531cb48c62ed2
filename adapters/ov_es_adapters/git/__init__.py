"""Worktrees and what git says about them."""
