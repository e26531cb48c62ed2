"""A small team to try things out with: two tickets, and a message that waits for an answer."""


def empty_team(agents: tuple[str, ...]) -> dict[str, object]:
    """Return a team with these agents, one person, one project and its channel."""
    return {
        "people": [{"id": 1, "name": "Maya"}],
        "agents": [
            {"id": number, "identifier": who, "name": who.capitalize()}
            for number, who in enumerate(agents, 1)
        ],
        "projects": [{"id": 1, "name": "Core", "channel_id": 10}],
        "channels": [{"id": 10, "project_id": 1, "name": "core"}],
    }


def example_team(agents: tuple[str, ...]) -> dict[str, object]:
    """Return the same with two tickets of the first agent, and a mention of it."""
    return {
        **empty_team(agents),
        "tickets": [
            {
                "id": 5,
                "project_id": 1,
                "slug": "COR-5",
                "title": "Fix the login form",
                "description": "The button stays grey after a wrong password.",
                "status": "todo",
                "agent_id": 1,
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
                "agent_id": 1,
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
                "content": f"@{agents[0]} what will you start with?",
                "created_at": "2026-01-01T08:10:00Z",
            }
        ],
    }
