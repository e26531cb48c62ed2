"""Which repositories a person has authorized for pushing: a private file below the home folder.

Source: GIT-104, GIT-105, GIT-111.
"""

from collections.abc import Collection, Iterable, Iterator
from logging import getLogger
from pathlib import Path
from typing import Any, cast

import orjson

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.git.push_target import PushTarget, read_target
from ov_es_adapters.private_files import replace_privately
from ov_es_domain.errors import OvEsError

_LOGGER = getLogger("ov_es.push")
FILE = "push-authorizations.json"


class PushAuthorizations:
    """The repositories of one home folder."""

    def __init__(self, home: Path) -> None:
        """Keep them in `home`."""
        self._path = home / FILE

    def all(self) -> tuple[PushTarget, ...]:
        """Return them by their roots.

        Raises: BadInputError when the file is there and can't be read: nothing is authorized then.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise BadInputError(f"{self._path} can't be read: {error.strerror}") from error
        try:
            return tuple(_parsed(value) for value in cast("list[Any]", orjson.loads(content)))
        except (orjson.JSONDecodeError, TypeError, KeyError) as error:
            raise BadInputError(f"{self._path} isn't what ov-es wrote; remove it") from error

    def authorize(self, target: PushTarget) -> None:
        """Let this repository's agent branches be pushed to this address, and to no other."""
        others = (known for known in self.all() if known.root != target.root)
        self._write((*others, target))

    def revoke(self, root: str) -> bool:
        """Take it back; tell whether there was anything to take back."""
        known = self.all()
        kept = [each for each in known if each.root != root]
        if len(kept) == len(known):
            return False
        self._write(kept)
        return True

    def permits(self, target: PushTarget) -> bool:
        """Tell whether exactly this root, address and way to connect are authorized (GIT-108)."""
        return target in self.all()

    def _write(self, targets: Iterable[PushTarget]) -> None:
        written = [
            {"root": each.root, "remote": each.remote, "bends": each.bends}
            for each in sorted(targets, key=lambda each: each.root)
        ]
        replace_privately(self._path, orjson.dumps(written, option=orjson.OPT_INDENT_2))


def _parsed(value: "dict[str, Any]") -> PushTarget:
    fields = {name: value[name] for name in ("root", "remote", "bends")}
    if not all(isinstance(field, str) for field in fields.values()):
        raise TypeError("an authorization is made of text")
    return PushTarget(**fields)


class AuthorizedDirectories(Collection[str]):
    """The directories from which an agent's branch could be pushed now (GIT-111).

    Each is looked at when it's asked for, by the same test as a push (GIT-108); a worktree counts
    like the repository that it belongs to.
    """

    def __init__(self, authorizations: PushAuthorizations) -> None:
        """Ask `authorizations`."""
        self._authorizations = authorizations

    def __contains__(self, directory: object) -> bool:
        """Tell whether a push from there would be let through; False where that can't be told."""
        if not isinstance(directory, str) or not directory:
            return False
        try:
            return self._authorizations.permits(read_target(Path(directory)))
        except OvEsError as error:
            _LOGGER.info("%s isn't authorized: %s", directory, error)
            return False

    def __iter__(self) -> Iterator[str]:
        """Yield the roots for which that is so."""
        return (known.root for known in self._authorizations.all() if known.root in self)

    def __len__(self) -> int:
        """Count them."""
        return sum(1 for _ in self)
