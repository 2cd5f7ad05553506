"""The coarse place types, and which of them a place counts as."""

from collections.abc import Sequence

_NAMES = """
accounting airport amusement_park aquarium art_gallery atm bakery bank bar beauty_salon bicycle_store
book_store bowling_alley bus_station cafe campground car_dealer car_rental car_repair car_wash casino
cemetery church city_hall clothing_store convenience_store courthouse dentist department_store doctor
drugstore electrician electronics_store embassy fire_station florist funeral_home furniture_store
gas_station gym hair_care hardware_store hindu_temple home_goods_store hospital insurance_agency
jewelry_store laundry lawyer library light_rail_station liquor_store local_government_office locksmith
lodging meal_delivery meal_takeaway mosque movie_rental movie_theater moving_company museum night_club
painter park parking pet_store pharmacy physiotherapist plumber police post_office primary_school
real_estate_agency restaurant roofing_contractor rv_park school secondary_school shoe_store shopping_mall
spa stadium storage store subway_station supermarket synagogue taxi_stand tourist_attraction train_station
transit_station travel_agency university veterinary_care zoo
"""

TYPES_96 = frozenset(_NAMES.split())
"""Google's Table 1 of place types, the options of V-IRL's recognition benchmark (section 5.2)."""

_COARSE = TYPES_96 | {"grocery_or_supermarket"}
_GENERAL = frozenset({"store", "tourist_attraction", "transit_station"})


def sort_of(types: Sequence[str]) -> str:
    """The coarse type that a place counts as: the first of its types that is one, rather than a general one.

    A ramen restaurant counts as a restaurant, a bookshop that also sells gifts as a bookshop, and a hotel
    with a restaurant as lodging. A place without any coarse type counts as its first type, and one without
    types as nothing, `""`.

    Args:
        types: place types, the most specific first.
    """
    coarse = [kind for kind in types if kind in _COARSE]
    plain = [kind for kind in coarse if kind not in _GENERAL]
    return next(iter([*plain, *coarse, *types]), "")
