"""Patches in the format of codex's `apply_patch`."""


def file_patch(path: str, content: str) -> str:
    r"""Return the patch that makes a file.

    >>> print(file_patch("a.txt", "one\ntwo\n"))
    *** Begin Patch
    *** Add File: a.txt
    +one
    +two
    *** End Patch
    """
    return "\n".join(("*** Begin Patch", f"*** Add File: {path}", *_lines("+", content), _END))


def piece_patch(path: str, old: str, new: str) -> str:
    """Return the patch that replaces lines of a file.

    >>> print(piece_patch("a.txt", "one", "1"))
    *** Begin Patch
    *** Update File: a.txt
    @@
    -one
    +1
    *** End Patch
    """
    head = ("*** Begin Patch", f"*** Update File: {path}", "@@")
    return "\n".join((*head, *_lines("-", old), *_lines("+", new), _END))


def _lines(mark: str, text: str) -> list[str]:
    # Only a line feed ends a line of a file; no text has no line.
    return [mark + line for line in text.removesuffix("\n").split("\n")] if text else []


_END = "*** End Patch"
