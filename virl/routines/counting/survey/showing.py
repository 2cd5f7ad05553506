"""The page of a survey: as for counting."""

from virl.routines.counting.showing import draw_page

__all__ = ["draw_page"]
