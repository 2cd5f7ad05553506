"""Whom to name for panoramas of Google, which its terms ask to be shown."""

MOST_NAMED = 20
"""Most names in a line of credits; chosen: a run meets one or two."""


class ImageCredits:
    """The copyright lines of the panoramas known by now, each with a page for complaints."""

    def __init__(self) -> None:
        self._links: dict[str, str] = {}

    def add(self, copyright_line: str, report_link: str = "") -> None:
        """Add a copyright line and a page where its panorama can be reported; no empty line.

        Args:
            copyright_line: as the metadata has it, such as `"© Google"`; nothing is added for an empty one.
            report_link: a page where a problem with the panorama can be reported.
        """
        if copyright_line and not self._links.get(copyright_line):
            self._links[copyright_line] = report_link

    def line(self) -> str:
        """Return all copyright lines, each with its first page, as a line; empty without any."""
        named = list(self._links.items())
        told = [f"{name} (report a problem: {link})" if link else name for name, link in named[:MOST_NAMED]]
        told += [f"{len(named) - MOST_NAMED} others"] if len(named) > MOST_NAMED else []
        return f"Street view: {', '.join(told)}" if told else ""
