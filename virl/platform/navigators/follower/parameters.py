"""The numbers of the follower's model, read from `platform/movement/follower.yaml`."""

from functools import cache
from typing import Annotated

from pydantic import Field

from virl.resources import data_folder
from virl.settings.model import Settings, load_settings

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Landmarks = tuple[Positive, float, Positive]
"""Place of a landmark on a block: median in links on a block of nine, growth with its length, spread."""


class Parameters(Settings):
    """Probabilities, angles in degrees and distances in links; the file says where each is from."""

    named_further: Share
    """Probability that the crossing is a later one than the text counts to, where the text names it."""
    named_further_remark: Share
    """Growth of that with each remark that the text makes on the way."""
    further: Share
    """The same where it names none, as in "turn left at the bank"."""
    further_remark: Share
    further_most: Share
    further_again: Share
    """Probability that a later one is not the next but one later still; as `further` if that is more."""
    fewer_least: Share
    """Probability that it is an earlier one, where the text passes none before it."""
    fewer: Share
    """Growth of that with each crossing that the text passes."""
    fewer_again: Share
    """Probability that an earlier one is earlier by two."""
    separate: tuple[Share, ...]
    """Probabilities that two crossings 1, 2, ... links apart are two to people; the last for all more."""
    counted_fourway: Share
    """Probability that people count a crossing of four ways that they pass."""
    counted_tee: Share
    """The same where no way leads straight on."""
    counted_side: Share
    """The same where one street joins from the side."""

    pair_separate: Share
    """Probability that the second light of two, which the text counts as one crossing, is another one."""
    near_separate: Share
    """Probability that two crossings are two to people where the text says that one follows right away."""
    gap_near: Positive
    """Links to a crossing "immediately after", of which half of the factor on it is left."""
    gap_near_spread: Positive
    gap_far: Positive
    """Links of a "long block", at which the factor on it reaches half."""
    gap_far_spread: Positive
    gap_least: Share
    """The least of these two factors."""
    other_shape: Share
    """Factor on a crossing that has not the ways of "the four-way intersection" or "the side street"."""
    shape_told: Share
    """Probability that people count a crossing whose shape they tell."""

    turn_angle: float
    turn_spread: Positive
    slight_angle: float
    slight_spread: Positive
    rough_spread: Positive
    """Spread where only one link of the way is seen."""
    not_outermost: Share
    """Factor on a left turn that is not the leftmost way, or a right one not the rightmost."""
    rough_not_outermost: Share
    tee_with_way_ahead: Share
    """Factor on a turn "at the T" or "where the road ends" where a way leads on."""
    forced_bend: Share
    """Factor on a turn of 45 to 70 degrees that the text leaves out where it is the straightest way."""
    forced_turn: Share
    """The same from 70 degrees on, at a crossing with several ways on."""
    bear_spread: Positive
    """Degrees by which one of two ways within 45 degrees may bend more and still be straight on."""
    bear: Share
    """The least factor on another way than the straightest, within 45 degrees, that the text leaves out."""
    untold_turn: Share
    """The same beyond 45 degrees."""

    stop_phrases: bool
    """True if stop phrases are told apart; if not, each means anywhere on its block."""
    neighbours: bool
    """True if the end is picked together with its neighbours, as task completion counts them."""
    in_aim: float
    in_spread: Positive
    before_aim: Positive
    before_step: float
    before_slope: float
    """Links for each step that the text says before a crossing."""
    before_spread: Positive
    after_aim: float
    after_step: float
    after_spread: Positive
    turned_aim: float
    turned_step: float
    turned_spread: Positive
    step_spread: float
    """Growth of the spread with each step that the text says."""
    fraction_most: Share
    """The greatest fraction of a block that people mean, even by "almost all the way"."""
    fraction_spread: Positive
    building_first: Positive
    building_next: Positive
    building_spread: Positive
    corner_aim: Positive
    """Links of a landmark that is at a corner from the nearer end of the block."""
    corner_spread: Positive
    corner_ahead: Share
    """Probability that such a landmark is at the corner at the end of the block."""
    landmark: Landmarks
    remark: float
    """Growth of the logarithm of that median with each remark that the text makes on the block."""
    open_end: Landmarks
    """Place on a block of the end, where the text just ends."""
    anywhere: Share
    """Share spread evenly over the block, whatever the phrase."""
    block_pull: float
    """Power of a block's length in its weight: 0 if all blocks are alike, 1 if all their nodes are."""

    with_traffic: Share
    """Probability that "with the flow of traffic" is the way the capturing car drove."""
    against_traffic: Share
    """Probability that "against the traffic" is the other way."""
    traffic_untold: Share
    """Probability that a walk starts the way the car drove where the text says nothing of traffic."""
    crossing_told: Share
    """Probability that "towards the intersection" is the way to the nearer one."""

    near_turn: Share
    """Factor on setting out another way than straight on from a crossing within two links of the start."""

    explore: float
    """A way not seen yet is tried for this share of the best end's weight, if there is time to return."""
    commit: float
    """The same where there is no time to return."""
    far: Positive
    """Links over which the weight of a way not seen yet falls by a factor e."""
    blocks: tuple[tuple[Annotated[int, Field(gt=0)], Share], ...]
    """Lengths of blocks in links and their shares, for blocks not seen to their end."""

    prior_links: tuple[Positive, Positive]
    """Mean and standard deviation of the links of Map2seq's routes; used with `--prior` only."""
    prior_links_touchdown: tuple[Positive, Positive]


@cache
def default_parameters() -> Parameters:
    """Return the shipped numbers.

    Raises:
        BadInput: the file was edited and does not hold what it should.
    """
    return load_settings(data_folder("platform/movement") / "follower.yaml", Parameters)
