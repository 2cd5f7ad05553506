"""What place localization counts: the types asked for, and whether a place was hit and named."""

from dataclasses import dataclass

TYPES_20 = (
    "bank",
    "restaurant",
    "supermarket",
    "bakery",
    "cafe",
    "pharmacy",
    "hospital",
    "spa",
    "convenience_store",
    "school",
    "library",
    "park",
    "lodging",
    "laundry",
    "movie_theater",
    "book_store",
    "clothing_store",
    "jewelry_store",
    "gym",
    "bar",
)
"""The types of V-IRL place localization (section 5.1), in the order of its settings."""

TYPES_10 = TYPES_20[:10]
"""Those of AR10 here: the first ten. The paper shows its ten as icons only, so its AR10 is another mean."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A place that was to be localized."""

    types: frozenset[str]
    """Which of the types asked for it is; not empty."""
    labels: frozenset[str]
    """Labels of the boxes that were matched to it; empty if none was."""

    @property
    def matched(self) -> bool:
        """Whether any box hit it."""
        return bool(self.labels)

    @property
    def detected(self) -> bool:
        """Whether a box hit it with one of its types."""
        return bool(self.labels & self.types)
