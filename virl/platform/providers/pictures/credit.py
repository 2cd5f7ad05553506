"""Whom to name for pictures."""

from collections.abc import Iterable

from virl.platform.providers.pictures.picture import Picture


def credit_line(pictures: Iterable[Picture], of: str = "Photographs", most: int | None = 5) -> str:
    """Return a line that names the authors and licences of pictures.

    Args:
        pictures: that are shown.
        of: what they are called.
        most: authors that are named, in alphabetical order; `None` names all.
    """
    shown = list(pictures)
    names = sorted({one.author for one in shown if one.author})
    licences = sorted({one.licence for one in shown if one.licence})
    left = 0 if most is None else max(len(names) - most, 0)
    who = ", ".join(names[: len(names) - left]) + (f" and {left} others" if left else "")
    return f"{of}: {who or 'unnamed'}" + (f" ({', '.join(licences)})" if licences else "")
