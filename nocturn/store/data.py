"""Where this user's keys, trust and default workspace are; apart, since every command asks."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["data_folder"]


def data_folder() -> Path:
    """Gives the user's data folder, which may not exist yet; ``NOCTURN_DATA`` overrides it."""
    given = os.environ.get("NOCTURN_DATA")
    if given:
        return Path(given).absolute()
    from platformdirs import user_data_path

    return user_data_path("nocturn", appauthor=False)
