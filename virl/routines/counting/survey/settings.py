"""What a character file says of a survey: as for counting."""

from virl.routines.counting.settings import ASKS_MIND, COUNT

__all__ = ["ASKS_MIND", "FIELDS"]

FIELDS = (COUNT,)
