"""Whom to name for pictures."""

from collections.abc import Iterable

from virl.platform.providers.pictures.picture import Picture


def credit_line(pictures: Iterable[Picture], of: str = "Photographs") -> str:
    """Authors and licences in a line.

    Args:
        pictures: that are shown.
        of: what they are called.
    """
    shown = list(pictures)
    names = sorted({one.author for one in shown if one.author})
    licences = sorted({one.licence for one in shown if one.licence})
    who = ", ".join(names[:5]) + (f" and {len(names) - 5} others" if len(names) > 5 else "")
    return f"{of}: {who or 'unnamed'}" + (f" ({', '.join(licences)})" if licences else "")
