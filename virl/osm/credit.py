"""Whom everything made from OpenStreetMap has to name."""

LICENCE = "Open Database License 1.0 (ODbL), https://opendatacommons.org/licenses/odbl/1-0/"
COPYRIGHT = "https://www.openstreetmap.org/copyright"
"""URL of OpenStreetMap's copyright page."""


def credit(date: str) -> str:
    """Return the notice that credits OpenStreetMap for a map, page, picture or export.

    Args:
        date: of the data, as in `2022-07-24`; empty where the extract does not say.
    """
    return f"© OpenStreetMap contributors{f', data of {date}' if date else ''}"
