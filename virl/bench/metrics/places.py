"""What place localization counts: the types asked for, and whether a place was hit and named."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sought:
    """A place that was to be localized."""

    types: frozenset[str]
    """Types of the place among those asked for; not empty."""
    labels: frozenset[str]
    """Labels of the boxes that were matched to it; empty if none was."""

    @property
    def is_matched(self) -> bool:
        """Return whether any box hit it."""
        return bool(self.labels)

    @property
    def is_detected(self) -> bool:
        """Return whether a box hit it with one of its types."""
        return bool(self.labels & self.types)
