"""A team's MCP server on stdio with one tool, as a process of its own."""

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("team", log_level="ERROR")
THE_ONE = 5


@server.tool()
def get_ticket(project_id: int, ticket_id: int) -> str:
    """Return the one ticket that there is."""
    if ticket_id != THE_ONE:
        raise ToolError(f"there is no ticket {ticket_id} in {project_id}")
    return '{"id": 5}'


if __name__ == "__main__":
    server.run("stdio")
