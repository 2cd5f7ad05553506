"""Stand-ins for the address of a client whom a file written for another city names."""

from random import Random

from virl.agent.character import Character, Point
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.starts import draw_address, is_there
from virl.platform.city.streetview import Panorama
from virl.routines.clients.settings import CLIENT


def fit(character: Character, city: City, start: Panorama, seed: int) -> tuple[Character, tuple[str, ...]]:
    """Replace the address of a client who is not in the city by one near the start.

    Args:
        character: as its file has it.
        city: where it runs.
        start: where the run begins.
        seed: for what is chosen at random.
    """
    client = CLIENT.of(character)
    if client is None or client.where is None:
        return character, ()
    if isinstance(client.where, str):
        where, is_here = client.where, is_there(city, client.where, start.position)
    else:
        position = LatLng(client.where.lat, client.where.lng)
        where, is_here = str(position), city.streetview.nearest(position) is not None
    if is_here:
        return character, ()
    address = draw_address(city, start.position, (), Random(seed))
    at = address.position if address else start.position
    changed = client.model_copy(update={"where": Point(lat=at.lat, lng=at.lng)})
    told = f"{where} is not in {city.title}: {client.name} is at {address.text if address else 'the start'}."
    return character.model_copy(update={CLIENT.name: changed}), (told,)
