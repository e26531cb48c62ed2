"""The error tree of the rules.

OvEsError
└── CommandRefusedError          a rule says no; the caller records or shows it
    ├── IllegalTransitionError      machine, transition, state
    └── StaleAttemptError           execution, attempt, expected
"""


class OvEsError(Exception):
    """Anything that ov-es raises on purpose."""


class CommandRefusedError(OvEsError):
    """A rule of the domain says no to a command."""


class IllegalTransitionError(CommandRefusedError):
    """The machine has no such transition from the present state."""

    def __init__(self, machine: str, transition: str, state: str) -> None:
        """Keep the parts, so that nobody parses the message."""
        self.machine = machine
        self.transition = transition
        self.state = state
        super().__init__(f"a {machine} cannot {transition} while {state}")


class StaleAttemptError(CommandRefusedError):
    """A result comes from a run that has been fenced off."""

    def __init__(self, execution: str, attempt: int, expected: str) -> None:
        """Keep the parts; `expected` is the execution id that holds the turn now."""
        self.execution = execution
        self.attempt = attempt
        self.expected = expected
        super().__init__(
            f"execution {execution} (attempt {attempt}) is not the one that holds the turn: "
            f"{expected or 'none does'}"
        )
