"""Lines of text that stand on one sign."""

from collections.abc import Sequence

from virl.platform.city.streetview import Box
from virl.platform.perception.base import TextLine

SIGN = "sign"
"""Label of a sign whose words tell of no place type.
What is read without a letter is no sign: rows of windows are often read as zeros."""

LINE_GAP = 0.8
"""Largest gap between two lines of one sign, as a share of the smaller line's height; chosen."""
WORD_GAP = 0.5
"""Largest gap between two parts of a line, as a share of the smaller part's height; chosen."""
TAGLINE = 4.5
"""Largest ratio of the heights of two lines of one sign, such as a name and a line below it; chosen."""
SAME_LINE = 1.8
"""Largest ratio of the heights of two parts of one line; chosen."""


def group_lines(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Return the lines of text in a picture grouped by sign, each group from top to bottom."""
    if not lines:
        return []
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes 0.2 s, which no start needs
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    together = csr_array([[_on_one_sign(a, b) for b in lines] for a in lines])
    count, sign_of = connected_components(together, directed=False)
    signs = [[line for line, sign in zip(lines, sign_of, strict=True) if sign == i] for i in range(count)]
    return [sorted(sign, key=lambda line: (line.box[1] + line.box[3], line.box[0])) for sign in signs]


def box_around(lines: Sequence[TextLine]) -> Box:
    """Return the smallest box, in pixels, that holds some lines of text, at least one."""
    lefts, tops, rights, bottoms = zip(*(line.box for line in lines), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _on_one_sign(a: TextLine, b: TextLine) -> bool:
    """Return whether two lines are near enough, and alike enough in height, to be on one sign."""
    low, high = sorted((_height(a), _height(b)))
    across = max(a.box[0], b.box[0]) - min(a.box[2], b.box[2])
    down = max(a.box[1], b.box[1]) - min(a.box[3], b.box[3])
    narrower = min(a.box[2] - a.box[0], b.box[2] - b.box[0])
    stacked = -across >= narrower / 2 and down <= LINE_GAP * low and high <= TAGLINE * low
    in_line = -down >= low / 2 and across <= WORD_GAP * low and high <= SAME_LINE * low
    return stacked or in_line


def _height(line: TextLine) -> float:
    """Return the height of a line's box in pixels, at least 1."""
    return max(line.box[3] - line.box[1], 1.0)
