"""Walking by a transition table: one walker, or thousands at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.geo.globe import Ints
from virl.platform.movers.discrete.actions import Action
from virl.platform.movers.discrete.rules import WalkState
from virl.platform.movers.discrete.table import ACTIONS, TransitionTable

_COLUMN = {action: column for column, action in enumerate(ACTIONS)}


class Walker:
    """A walker on a transition table, moved by actions.

    Args:
        table: the graph and the rules.
        start: where it begins; a state of the table.

    Raises:
        BadInput: the table does not have the start.
    """

    __slots__ = ("_after", "_carried", "_table", "number")

    number: int
    """Number of the walker's state in the table; may be set."""

    def __init__(self, table: TransitionTable, start: WalkState) -> None:
        self._table = table
        # a memory view gives plain integers three times as fast as an array does
        self._after, self._carried = table.validated.ravel().data, table.carried.ravel().data
        self.number = table.number(start)

    def __deepcopy__(self, _: dict[int, Any]) -> "Walker":
        """Return a walker of its own on the same table, which never changes."""
        return Walker(self._table, self.state)

    @property
    def state(self) -> WalkState:
        """The walker's state: node, heading and the node before."""
        return self._table.state(self.number)

    def step(self, action: Action) -> Action:
        """Carry out an action as validation allows it, and return the action that was carried out.

        Returns:
            The action that was carried out.
        """
        cell = self.number * 5 + _COLUMN[action]
        self.number = self._after[cell]
        return ACTIONS[self._carried[cell]]


class WalkerBatch:
    """Many walkers on one transition table, moved together.

    Args:
        table: the graph and the rules.
        starts: where they begin: states of the table, or their numbers, shape (walkers,).

    Raises:
        BadInput: the table does not have one of the starts.
    """

    __slots__ = ("_table", "numbers")

    numbers: NDArray[np.int32]
    """Number of each walker's state in the table, shape (walkers,); may be set."""

    def __init__(self, table: TransitionTable, starts: Sequence[WalkState] | Ints) -> None:
        self._table = table
        if not isinstance(starts, np.ndarray):
            starts = np.array([table.number(state) for state in starts], np.int64)
        if len(starts) and not 0 <= starts.min() <= starts.max() < len(table):
            raise BadInput(f"a walker starts in a state that is not in the table: it has {len(table)}")
        self.numbers = starts.astype(np.int32)

    def __len__(self) -> int:
        return len(self.numbers)

    def state(self, walker: int) -> WalkState:
        """Return the state of the walker with an index."""
        return self._table.state(int(self.numbers[walker]))

    def step(self, actions: NDArray[np.integer]) -> NDArray[np.int8]:
        """Carry out an action for each walker as validation allows it, and return those carried out.

        Args:
            actions: numbers of actions in `ACTIONS`, shape (walkers,).

        Returns:
            The numbers of the actions that were carried out, shape (walkers,).

        Raises:
            BadInput: there are not as many actions as walkers, or one is no number of an action.
        """
        in_range = 0 <= actions.min(initial=0) <= actions.max(initial=0) < len(ACTIONS)
        if actions.shape != self.numbers.shape or not in_range:
            raise BadInput(f"{len(self)} walkers need {len(self)} actions from 0 to {len(ACTIONS) - 1}")
        cells = self.numbers * np.int32(len(ACTIONS)) + actions
        self.numbers = self._table.validated.ravel()[cells]
        return self._table.carried.ravel()[cells]
