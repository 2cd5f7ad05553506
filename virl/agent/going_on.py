"""Where a run that goes on has to go: as its last step says."""

from collections.abc import Sequence

from virl.errors import NoStreetView
from virl.journal.records import StepRecord
from virl.platform.streetview import Link


def link_taken(links: Sequence[Link], step: StepRecord) -> Link:
    """The link by which a step that is written down leads on.

    Args:
        links: that leave its pose now.
        step: which did not stop.

    Raises:
        NoStreetView: it is not among them.
    """
    link = next((link for link in links if link.pano_id == step.next_pano_id), None)
    if link is None:
        raise NoStreetView(
            f"no way leads from panorama {step.pose.pano_id!r} to {step.next_pano_id!r} any more: "
            "begin a new run"
        )
    return link
