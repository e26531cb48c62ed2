"""The team's MCP server as runs know it."""

SERVER = "openvisio-team"
"""Its name in every runtime's configuration, and so in the names of its tools."""
