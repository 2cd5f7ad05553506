"""Compiled kernel, after the first pass: how many pixels does each thing show, and where?"""

import numpy as np
from numpy.typing import NDArray

from virl.platform.providers.offline.render.kernel import kernel

Ints = NDArray[np.int64]


@kernel
def tally(shown: NDArray[np.int32], owner: NDArray[np.int32], counts: Ints, bounds: Ints) -> None:
    """Count the pixels of each owner and find the box that holds them.

    Args:
        shown: place of the quad that a pixel shows, below 0 for none, (height, width).
        owner: owner of the quad at each place, below 0 for none, (m,).
        counts: zeros; receives the pixels of each owner, (k,).
        bounds: receives the first and last column and row of those that have any, as (left, top, right,
            bottom), (k, 4).
    """
    for row in range(shown.shape[0]):
        for column in range(shown.shape[1]):
            quad = shown[row, column]
            if quad < 0 or owner[quad] < 0:
                continue
            one = owner[quad]
            box = bounds[one]
            if counts[one] == 0:
                box[0], box[1], box[2] = column, row, column
            box[0], box[2], box[3] = min(box[0], column), max(box[2], column), row
            counts[one] += 1
