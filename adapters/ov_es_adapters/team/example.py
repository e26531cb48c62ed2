"""A small team to try things out with: two tickets, and a message that waits for an answer."""


def example_team(agent: str) -> dict[str, object]:
    """Return a team with an agent, who has the tickets and the message, and with another one."""
    other = "bob" if agent != "bob" else "ada"
    return {
        "people": [{"id": 1, "name": "Maya"}],
        "agents": [
            {"id": 7, "identifier": agent, "name": agent.capitalize()},
            {"id": 8, "identifier": other, "name": other.capitalize()},
        ],
        "projects": [{"id": 1, "name": "Core", "channel_id": 10}],
        "channels": [{"id": 10, "project_id": 1, "name": "core"}],
        "tickets": [
            {
                "id": 5,
                "project_id": 1,
                "slug": "COR-5",
                "title": "Fix the login form",
                "description": "The button stays grey after a wrong password.",
                "status": "todo",
                "agent_id": 7,
                "priority": "high",
                "updated_at": "2026-01-01T08:00:00Z",
            },
            {
                "id": 6,
                "project_id": 1,
                "slug": "COR-6",
                "title": "Write the release note",
                "description": "Two sentences for version 1.2.",
                "status": "todo",
                "agent_id": 7,
                "priority": "low",
                "updated_at": "2026-01-01T08:05:00Z",
            },
        ],
        "messages": [
            {
                "id": 100,
                "channel_id": 10,
                "parent_id": None,
                "person": 1,
                "content": f"@{agent} what will you start with?",
                "created_at": "2026-01-01T08:10:00Z",
            }
        ],
    }
