"""Which mover fits a district of Google's: what the key allows and the links need."""

from virl.errors import BadInput
from virl.platform.mover_choice import MOVERS_WITHOUT_LINKS, MoverChoice, links_around
from virl.platform.providers.google.options import GoogleOptions
from virl.platform.streetview import Panorama, StreetView

NO_TILES = "`map_tiles` in platform/providers/google.yaml is false, so no links are known"
REFUSED = "the key may not use the Map Tiles API, so no links are known"


def known_mover(options: GoogleOptions, map_tiles: bool | None) -> MoverChoice | None:
    """The mover that settings and city file name; `None` if only Google can tell.

    Args:
        options: of the city.
        map_tiles: whether the key may use Map Tiles, if that is known.
    """
    if map_tiles is False:
        return MoverChoice("grid", NO_TILES, MOVERS_WITHOUT_LINKS)
    if options.links == "thin":
        return MoverChoice("hybrid", "the city file says that links are thin here")
    if options.links == "whole" and map_tiles:
        return MoverChoice("links", "the city file says that links are whole here")
    return None


def fit_mover(
    streetview: StreetView, options: GoogleOptions, *, map_tiles: bool, start: Panorama, asked: str | None
) -> MoverChoice:
    """The mover for a start, or the one asked for.

    Args:
        streetview: asked about the links around the start, if nothing else decides.
        options: of the city.
        map_tiles: whether the key may use Map Tiles.
        start: where the run begins.
        asked: the mover that the user wants, if any.

    Raises:
        BadInput: the mover asked for does not work with this key.
    """
    if not map_tiles:
        if asked and asked not in MOVERS_WITHOUT_LINKS:
            works = " or ".join(MOVERS_WITHOUT_LINKS)
            raise BadInput(
                f"mover {asked!r} needs the Map Tiles API, which the key may not use: choose {works}"
            )
        return MoverChoice(asked or "grid", REFUSED, MOVERS_WITHOUT_LINKS)
    if asked:
        return MoverChoice(asked, "you asked for it")
    if known := known_mover(options, map_tiles):
        return known
    around = links_around(streetview, start)
    return MoverChoice("hybrid" if around.are_thin else "links", around.told)
