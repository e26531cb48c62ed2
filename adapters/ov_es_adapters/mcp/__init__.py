"""The team's tools over MCP."""
