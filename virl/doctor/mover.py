"""Which mover a run would take in a city with this key."""

from virl.agent.mover import planned_mover
from virl.doctor.findings import Finding
from virl.doctor.services import Asked
from virl.errors import VirlError
from virl.money.ledger import Ledger
from virl.platform.providers.cities import Access, opened_city
from virl.platform.relocate import relocate

TILES = "Map Tiles API"
NEEDED_FOR = "`virl run --city {city}` without --mover"


def mover_finding(city: str, asked: Asked) -> Finding:
    """The mover for the middle of a city and the reason for it; costs nothing.

    Args:
        city: by name.
        asked: what Google's services answered; links are looked at if the key's use of Map Tiles is known.
    """
    what, needed_for = f"mover in {city}", NEEDED_FOR.format(city=city)
    planned = planned_mover(city)
    known = {one.status for one in asked.outcomes if one.service == TILES} & {"reached", "refused"}
    if not known:
        return Finding(what, "ok", f"{planned.name}: {planned.reason}".removesuffix(": "), needed_for)
    try:
        with opened_city(city, Access(ledger=Ledger(0.0), cache="off")) as opened:
            if opened.fit_mover:
                start = relocate(opened.streetview, opened.center, f"the middle of {opened.title}")
                planned = opened.fit_mover(start, None)
    except VirlError as fault:
        return Finding(what, "ok", f"{planned.name}; {fault}", needed_for)
    return Finding(what, "ok", f"{planned.name}: {planned.reason}".removesuffix(": "), needed_for)
