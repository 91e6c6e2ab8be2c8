"""Names that are to be in one folder together, on every operating system."""

from __future__ import annotations

from nocturn.names import same_name_key

__all__ = ["Neighbours"]


class Neighbours:
    """The paths of some files, such that any system can hold all of them."""

    def __init__(self) -> None:
        self._there: dict[str, tuple[str, bool]] = {}

    def add(self, path: str) -> str | None:
        """Adds a file's path, if it can be beside those that were added.

        Args:
            path: Parts joined by ``/``.

        Returns:
            None where it was added; else the path, or that of a folder, that it cannot be beside:
            it differs in case or form alone, is the same, or is a folder where this is a file.
        """
        parts = path.split("/")
        way = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        for each in way:
            there, is_folder = self._there.get(same_name_key(each), (each, each != path))
            if there != each or is_folder != (each != path):
                return there
        if same_name_key(path) in self._there:
            return path
        self._there.update({same_name_key(each): (each, each != path) for each in way})
        return None
