"""Whether the top-level packages ``planner`` and ``udfs`` are sparkext's own."""

from __future__ import annotations

from importlib import import_module


def check() -> None:
    """Make sure that no module of the user's hides a package of sparkext's.

    Raises:
        ImportError: Another module of the same name is found first.
    """
    for name in ("planner", "udfs"):
        module = import_module(name)
        if getattr(module, "PART_OF", None) != "sparkext":
            place = getattr(module, "__file__", None) or "an unknown place"
            raise ImportError(
                f"sparkext needs its own package '{name}', but Python finds another one at {place}. "
                f"Rename that module, or put sparkext's directory before it in sys.path."
            )
