"""The end of a search for a home: the ranking, and what the report shows."""

from collections.abc import Sequence
from contextlib import suppress

from virl.agent.agent import Agent
from virl.errors import NoStreetView, ProviderError
from virl.geo.globe import LatLng, bearing
from virl.journal.film import PICTURE
from virl.pages.exhibits import MapExhibit, MapPoint, TableExhibit, TextExhibit
from virl.pages.maps import without_common_end
from virl.pages.numbers import count_noun
from virl.platform.city.claims import HomeClaim
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Camera
from virl.routines.client import client_of
from virl.routines.homes.search import Home, HomeSearch, Rated, rent_of

FRONT_M = 40.0
"""Most metres from a home to the panorama of its picture. Chosen: across a wide street."""
FRONT_PITCH_DEG, FRONT_FOV_DEG = 12.0, 90.0
"""Pitch and field of view of a home's picture, degrees. Chosen: a house of four floors across a street."""
LINES_SHOWN = 30  # listings that were left out, in the report (chosen); the journal has all


def conclude(agent: Agent, search: HomeSearch, rated: Sequence[Rated], off_the_map: Sequence[str]) -> None:
    """End the run with the ranked homes, or why none fits; `off_the_map`: a sentence per unreachable home.

    Args:
        agent: agent who searched.
        search: homes found, and listings skipped.
        rated: homes with ratings.
        off_the_map: sentences on homes without one, since no way leads there.
    """
    best = sorted(rated, key=lambda one: (-one.rating, one.home.price, one.home.id))
    skipped = [*search.skipped, *off_the_map]
    answer: dict[str, object] = {
        "pick": best[0].home.id if best else None,
        "ranked": [
            {
                **one.home.model_dump(mode="json"),
                "rating": one.rating,
                "reason": one.reason,
                "nearby": [near.model_dump(mode="json") for near in one.nearby],
            }
            for one in best
        ],
        "skipped": skipped,
    }
    count = count_noun(len(skipped), "listing")
    lines = skipped[:LINES_SHOWN]
    if len(skipped) > LINES_SHOWN:
        lines.append(f"and {len(skipped) - LINES_SHOWN} more")
    left_out = [TextExhibit(title=f"Skipped: {count}", text="\n\n".join(lines))] if skipped else []
    rent = rent_of(agent)
    if not best:
        first = f", the first: {skipped[0]}" if skipped else ""
        reason = (
            f"No home for rent in {', '.join(search.areas)} for {rent.price[0]:.0f} to {rent.price[1]:.0f} "
            f"dollars fits: widen the price, the bedrooms or the areas ({count} skipped{first})."
        )
        agent.run.end(Outcome("not found", reason), answer=answer, exhibits=left_out)
        return
    pick = best[0]
    minutes = {near.place_type: near.walk_minutes for near in pick.nearby}
    at = LatLng(pick.home.lat, pick.home.lng)
    shown = best[: rent.shown]
    reason = (
        f"{pick.home.address} for {client_of(agent.character).name}: {pick.rating:g} of 10, "
        f"{pick.home.price:.0f} dollars a month, {pick.home.size}."
    )
    agent.run.end(
        Outcome("found", reason, pick.home.address),
        answer=answer | {PICTURE: _keep_front(agent, pick.home)},
        claims=[HomeClaim(pick.home.address, at, minutes, rent.walk_metres)],
        exhibits=[_homes_table(shown, len(best)), _homes_map(shown), *left_out],
    )


def _keep_front(agent: Agent, home: Home) -> str:
    """Write a home's street view to the run where views are kept and free; return its file, or empty."""
    at = LatLng(home.lat, home.lng)
    if note := agent.run.find_note(PICTURE, home.id):
        return note.views[0].file
    with suppress(NoStreetView, ProviderError):  # the answer stands without it
        is_free = agent.run.keeps_views and not agent.city.ledger
        panorama = agent.city.streetview.nearest(at, FRONT_M) if is_free else None
        if panorama is None:
            return ""
        camera = Camera(bearing(panorama.position, at), FRONT_PITCH_DEG, FRONT_FOV_DEG)
        views = agent.run.keep(agent.city.streetview.view(panorama.id, camera), "look")
        text = "The house as the street shows it."
        return agent.run.note(PICTURE, home.id, text, title="The house", views=views, asked=()).views[0].file
    return ""


def _homes_table(shown: Sequence[Rated], count: int) -> TableExhibit:
    """Return the table of the best homes; `count` is the number of all."""
    kinds = [near.place_type for near in shown[0].nearby]
    addresses = without_common_end([one.home.address for one in shown])
    return TableExhibit(
        title="The best homes",
        columns=(
            "rank",
            "address",
            "rating of 10",
            "dollars a month",
            "bedrooms",
            "m\N{SUPERSCRIPT TWO}",
            *(f"min to {kind.replace('_', ' ')}" for kind in kinds),
        ),
        rows=tuple(
            (
                rank,
                address,
                one.rating,
                one.home.price,
                one.home.bedrooms,
                one.home.area,
                *(
                    None if near.walk_minutes is None else max(1, round(near.walk_minutes))
                    for near in one.nearby
                ),
            )
            for rank, (one, address) in enumerate(zip(shown, addresses, strict=True), 1)
        ),
        picked=0,
        note=f"Best first, {len(shown)} of {count}; equal ratings by lower rent. "
        f"The first: {shown[0].reason}",
    )


def _homes_map(shown: Sequence[Rated]) -> MapExhibit:
    """Return the map of the best homes, numbered, the first one marked."""
    return MapExhibit(
        title="Map",
        points=tuple(
            MapPoint(
                lat=one.home.lat,
                lng=one.home.lng,
                label=one.home.address,
                text=f"{one.rating:g} of 10, {one.home.price:.0f} dollars. {one.reason}",
                mark=str(number),
                style="pick" if number == 1 else "candidate",
            )
            for number, one in enumerate(shown, 1)
        ),
    )
