"""The plans of cities whose every sign and house is known: made ones and rebuilt ones."""

from virl.errors import BadInput
from virl.platform.providers.cities import city_settings
from virl.platform.providers.offline.city import plan_of as made_plan
from virl.platform.providers.osm.city_file import OsmCity
from virl.towns.life.parks import NO_FRONTAGE
from virl.towns.plan.town_plan import CityPlan, Shop


def plan_of(city: str) -> CityPlan:
    """Return the plan of a made or rebuilt city, given by name, file or extract.

    Raises:
        BadInput: the city is neither made nor rebuilt.
    """
    return fronted_plan(city)[0]


def fronted_plan(city: str) -> tuple[CityPlan, list[Shop]]:
    """Return (plan of a made or rebuilt city, its places that should have a front).

    Raises:
        BadInput: the city is neither made nor rebuilt.
    """
    settings = city_settings(city)
    if isinstance(settings, OsmCity):
        from virl.osm.cache import load_twin  # noqa: PLC0415 - needs the extra osm

        twin = load_twin(settings.map_file, settings.part, settings.names)
        shops = enumerate(twin.plan.shops)
        return twin.plan, [shop for number, shop in shops if twin.pois.has_front(number)]
    plan = made_plan(settings)
    if plan is None:
        raise BadInput(f"{city}: give a made city, or an OpenStreetMap extract")
    return plan, [shop for shop in plan.shops if shop.frontage != NO_FRONTAGE]
