"""Replies of every service that answers in JSON, in the shapes that were recorded or documented.

Two or three of each kind differ as real ones do: in fields that are left out or null, in languages and units.
"""

from typing import Any

from virl.geo.globe import LatLng
from virl.geo.polyline import encode_polyline

HERE, THERE, BEYOND = LatLng(1.0, 2.0), LatLng(1.001, 2.0), LatLng(1.001, 2.002)
LINE = encode_polyline([HERE, THERE])
TEXT = {"text": "Fine", "languageCode": "en"}
NEW_PLACES = [
    {
        "id": f"place-{number}",
        "displayName": {"text": f"Place {number}"},
        "types": ["cafe", "food"],
        "primaryType": "cafe",
        "location": {"latitude": 1.0, "longitude": 2.0},
        "rating": 4.5,
        "userRatingCount": 12,
        "priceLevel": "PRICE_LEVEL_MODERATE",
        "priceRange": {"startPrice": {"currencyCode": "EUR", "units": "10"}},
        "regularOpeningHours": {
            "periods": [{"open": {"day": 1, "hour": 9}, "close": {"day": 1, "hour": 17}}]
        },
        "reviews": [{"rating": 5, "text": TEXT, "authorAttribution": {"displayName": "A"}}],
        "accessibilityOptions": {"wheelchairAccessibleEntrance": True},
    }
    for number in range(4)
]
OLD_PLACES = [
    {
        "place_id": f"place-{number}",
        "name": f"Place {number}",
        "types": ["cafe", "food"],
        "geometry": {"location": {"lat": 1.0, "lng": 2.0}, "viewport": {}},
        "rating": 4.5,
        "user_ratings_total": 12,
        "price_level": 2,
        "photos": [{"photo_reference": "x", "fprint": 14970958066519606553}],
        "opening_hours": {
            "periods": [{"open": {"day": 1, "time": "0900"}, "close": {"day": 1, "time": "1700"}}]
        },
    }
    for number in range(4)
]
REVIEWS = [{"rating": number, "text": {"text": f"Review {number}"}} for number in range(1, 5)]
CELL = {"status": "OK", "duration": {"value": 60}, "distance": {"value": 80}}
RIDE = {
    "stopDetails": {"departureTime": "2026-11-24T09:00:00Z"},
    "transitLine": {"name": "1"},
    "headsign": "North",
}
STEP = {"polyline": {"encodedPolyline": LINE}, "distanceMeters": 111, "staticDuration": "80s"}
WAY = {"distanceMeters": 111, "duration": "80s", "polyline": {"encodedPolyline": LINE}}
OLD_STEP = {"polyline": {"points": LINE}, "distance": {"value": 111}, "duration": {"value": 80}}
OLD_LEG = {"distance": {"value": 111}, "duration": {"value": 80}, "steps": [OLD_STEP, OLD_STEP]}
OSRM_STEP = {"geometry": {"coordinates": [[2.0, 1.0], [2.0, 1.001]]}, "name": "Long Street"}
OSRM_LEG = {"distance": 111.0, "duration": 80.0, "steps": [OSRM_STEP]}
LEG = {
    "summary": {"time": 80.0, "length": 0.111},
    "shape": encode_polyline([HERE, THERE], 6),
    "maneuvers": [{"street_names": ["Long Street"], "begin_shape_index": 0, "end_shape_index": 1}],
}
ELEMENTS = [
    {
        "type": "node",
        "id": number,
        "lat": 1.0 + number / 100,
        "lon": 2.0,
        "tags": {"shop": "bakery", "name": "B"},
    }
    for number in range(4)
]
MATCH = {
    "lat": "1.0",
    "lon": "2.0",
    "boundingbox": ["1", "1", "2", "2"],
    "name": "N",
    "address": {"road": "R"},
}
MATCHES = [MATCH | {"display_name": f"Place {number}"} for number in range(4)]
CAPTURE = {
    "panoId": "p",
    "lat": 1.0,
    "lng": 2.0,
    "heading": 10.0,
    "imageWidth": 64,
    "imageHeight": 32,
    "tileWidth": 64,
    "links": [{"panoId": f"pano-{number}", "heading": 90.0 * number} for number in range(4)],
}


def varied(parts: list[dict[str, Any]], *changes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return parts with other fields each; a field of `...` is left out."""
    mixed = [part | changes[number % len(changes)] for number, part in enumerate(parts)]
    return [{name: value for name, value in part.items() if value is not ...} for part in mixed]


JAPANESE = {"text": "銀座の喫茶店", "languageCode": "ja"}
NIGHTS = [
    {"open": {"day": 5, "hour": 18, "minute": 30}, "close": {"day": 6, "hour": 2, "minute": 0}},
    {"open": {"day": 6, "hour": 11}, "close": {"day": 6, "hour": 14, "minute": 30}},
]
OTHER_NEW_PLACES = varied(
    NEW_PLACES,
    {"displayName": JAPANESE, "rating": ..., "userRatingCount": ..., "priceLevel": ..., "reviews": ...},
    {"regularOpeningHours": {"periods": [{"open": {"day": 0, "hour": 0, "minute": 0}}]}, "priceRange": ...},
    {"businessStatus": "CLOSED_TEMPORARILY", "primaryType": ..., "photos": [{"name": "x", "widthPx": 4800}]},
    {
        "regularOpeningHours": {"openNow": False, "periods": NIGHTS, "weekdayDescriptions": ["月曜日: 休業"]},
        "reviews": [{"rating": 2, "originalText": JAPANESE, "publishTime": "2025-08-01T10:00:00.1Z"}],
        "priceRange": {
            "startPrice": {"currencyCode": "JPY", "units": "1000"},
            "endPrice": {"currencyCode": "JPY", "units": "2000"},
        },
        "servesVegetarianFood": False,
    },
)
OTHER_OLD_PLACES = varied(
    OLD_PLACES,
    {"types": [], "rating": ..., "user_ratings_total": ..., "photos": ..., "vicinity": "1 Long Street"},
    {"opening_hours": {"periods": [{"open": {"day": 0, "time": "0000"}}]}, "price_level": ...},
    {"business_status": "CLOSED_PERMANENTLY", "permanently_closed": True, "opening_hours": ...},
    {
        "name": "Café de l'Église",
        "opening_hours": {
            "open_now": True,
            "periods": [{"open": {"day": 5, "time": "1830"}, "close": {"day": 6, "time": "0200"}}],
        },
        "plus_code": {"compound_code": "X2X2+XX Paris", "global_code": "6FX2X2X2+XX"},
    },
)
OTHER_CAPTURE = varied(
    [CAPTURE],
    {
        "imageryType": "indoor",
        "tilt": 85.8,
        "roll": 354.5,
        "date": "2024-07",
        "copyright": "From the owner",
        "links": [{"panoId": "a"}, {"panoId": "b", "heading": None}, {"panoId": "c", "text": "Aisle"}],
        "addressComponents": [{"longName": "Rome", "shortName": "Rome", "types": ["locality", "political"]}],
    },
)[0]
NO_CELL = {"status": "ZERO_RESULTS"}
TURN = {"maneuver": "TURN_LEFT", "instructions": "Links abbiegen auf Lange Straße"}
SIGNED = STEP | {"navigationInstruction": TURN, "localizedValues": {"distance": {"text": "0,1 km"}}}
OLD_TURN = OLD_STEP | {
    "html_instructions": "Turn <b>left</b>",
    "travel_mode": "WALKING",
    "start_location": {"lat": 1.0, "lng": 2.0},
}
OLD_RIDE = {
    "departure_stop": {"name": "Church Av", "location": {"lat": 1.0, "lng": 2.0}},
    "arrival_stop": {"name": "Main St"},
    "departure_time": {"text": "9:05am", "time_zone": "America/New_York", "value": 1764000300},
    "arrival_time": {"text": "9:07am", "time_zone": "America/New_York", "value": 1764000420},
    "headsign": "Uptown",
    "line": {"short_name": "F", "name": "Line F", "vehicle": {"name": "Subway", "type": "SUBWAY"}},
    "num_stops": 1,
}
OLD_RIDDEN = OLD_LEG | {
    "departure_time": {"value": 1764000000},
    "arrival_time": {"value": 1764000600},
    "steps": [OLD_TURN, OLD_STEP | {"transit_details": OLD_RIDE, "travel_mode": "TRANSIT"}, OLD_TURN],
}
NUMBERED = OSRM_STEP | {"name": "", "ref": "B 27", "mode": "walking", "maneuver": {"bearing_after": 0}}
UNNAMED = {"begin_shape_index": 0, "end_shape_index": 0, "instruction": "Vous êtes arrivé.", "type": 4}
FIRST = {"begin_street_names": ["Rue Longue"], "begin_shape_index": 0, "end_shape_index": 1, "type": 1}
OTHER_ELEMENTS = [
    {"type": "way", "id": 1, "center": {"lat": 1.0, "lon": 2.0}, "nodes": [1, 2, 3, 1]},
    {"type": "relation", "id": 2, "center": {"lat": 1.01, "lon": 2.0}, "members": []},
    {"type": "way", "id": 3, "center": {"lat": 1.02, "lon": 2.0}, "nodes": [4, 5, 6, 4], "bounds": {}},
]
JAPAN = {"city": "東京都", "suburb": "江東区", "neighbourhood": "猿江一丁目", "country_code": "jp"}
NORWAY = {"house_number": "1", "road": "Løvenbergvegen", "municipality": "Ullensaker", "postcode": "2050"}
OTHER_MATCHES = varied(
    MATCHES,
    {"name": None, "address": JAPAN, "importance": 0.1, "place_rank": 30, "category": "place"},
    {"address": NORWAY, "extratags": None, "namedetails": {"name": "N"}, "addresstype": "building"},
)
HOMES = [
    {
        "id": f"{number}-Long-St,-Austin,-TX-78701",
        "formattedAddress": f"{number} Long St, Austin, TX 78701",
        "latitude": 1.0,
        "longitude": 2.0,
        "price": 1500 + number,
        "propertyType": "Apartment",
        "bedrooms": 2,
        "bathrooms": 1.5,
        "squareFootage": 900,
        "yearBuilt": 1987,
        "status": "Active",
    }
    for number in range(4)
]
OTHER_HOMES = varied(
    HOMES,
    {"bedrooms": 0, "squareFootage": ..., "yearBuilt": ..., "hoa": {"fee": 175}, "history": {}},
    {"propertyType": "Single Family", "bathrooms": None, "lotSize": 6000, "removedDate": None},
)
TILES = {"tileWidth": 720, "tileHeight": 720, "matrixWidth": 8, "matrixHeight": 4}
WHOLE = {"field_of_view": 360, "sensor_array_dimensions": [5760, 2880]}
ITEMS = [
    {
        "type": "Feature",
        "id": f"picture-{number}",
        "collection": "drive",
        "geometry": {"type": "Point", "coordinates": [2.0, 1.0]},
        "providers": [{"name": "Ada", "roles": ["producer"]}],
        "properties": {
            "datetime": f"2024-06-01T10:00:0{number}+00:00",
            "license": "etalab-2.0",
            "view:azimuth": 90,
            "geovisio:rank_in_collection": number,
            "pers:interior_orientation": WHOLE,
            "tiles:tile_matrix_sets": {"geovisio": {"tileMatrix": [TILES]}},
        },
        "assets": {"hd": {"href": "https://p.example/hd.jpg"}, "sd": {"href": "https://p.example/sd.jpg"}},
        "asset_templates": {"tiles": {"href": "https://p.example/{TileCol}_{TileRow}.jpg"}},
    }
    for number in range(3)
]
TAKEN = {"datetime": "2023-05-01T08:00:00Z", "license": "CC-BY-SA-4.0"}
CROPPED = {"sensor_array_dimensions": [2000, 1000], "visible_area": [0, 318, 0, 100]}
WIDE = {"geovisio": {"tileMatrix": [TILES | {"tileWidth": 687.5, "matrixWidth": 16, "matrixHeight": 8}]}}
OTHER_ITEMS = varied(
    ITEMS,
    {"properties": TAKEN | {"view:azimuth": 198}, "asset_templates": ..., "providers": ...},
    {
        "properties": TAKEN
        | {
            "pers:interior_orientation": WHOLE | CROPPED,
            "pers:pitch": -0.6,
            "pers:roll": 1.1,
            "exif": {"Xmp.GPano.ProjectionType": "equirectangular"},
        }
    },
    {"properties": TAKEN | {"tiles:tile_matrix_sets": WIDE, "pers:yaw": 0.0, "semantics": []}},
)
POINT = {"type": "Point", "coordinates": [2.0, 1.0]}
IMAGES = [
    {
        "id": f"{number}00",
        "geometry": POINT,
        "computed_geometry": POINT,
        "compass_angle": 91.2,
        "computed_compass_angle": 88.7,
        "computed_rotation": [1.22, -1.192, 1.192],
        "camera_type": "spherical",
        "camera_parameters": [],
        "is_pano": True,
        "captured_at": 1622541150000 + number,
        "sequence": "f1ihYvTZ",
        "creator": {"id": "101", "username": "ada"},
        "width": 5760,
        "height": 2880,
    }
    for number in range(1, 4)
]
OTHER_IMAGES = varied(
    IMAGES,
    {"camera_type": "perspective", "camera_parameters": [0.6, 0.01, -0.02], "is_pano": False},
    {
        "computed_geometry": ...,
        "computed_rotation": ...,
        "computed_compass_angle": ...,
        "compass_angle": -1.0,
    },
    {"camera_type": ..., "creator": ..., "is_pano": False, "width": 4032, "height": 3024},
)
ADDRESS = {"geometry": {"location": {"lat": 1, "lng": 2}}, "formatted_address": "A"}
PARTS = [{"long_name": "İstanbul", "short_name": "İst", "types": ["locality", "political"]}]
PAIR = {"originIndex": 0, "condition": "ROUTE_EXISTS", "duration": "80s"}
NEAREST = {"status": "OK", "pano_id": "p", "location": {"lat": 1, "lng": 2}}

REPLIES: dict[str, list[Any]] = {
    "Places nearby": [{"places": NEW_PLACES}, {"places": OTHER_NEW_PLACES}],
    "Places text": [{"places": NEW_PLACES}, {"places": OTHER_NEW_PLACES[::-1], "nextPageToken": None}],
    "Places details": [
        NEW_PLACES[0] | {"reviews": REVIEWS},
        OTHER_NEW_PLACES[3] | {"reviews": [one | {"originalText": JAPANESE} for one in REVIEWS]},
    ],
    "legacy Places nearby": [
        {"status": "OK", "results": OLD_PLACES},
        {"status": "OK", "results": OTHER_OLD_PLACES, "html_attributions": ["Listings by <b>A</b>"]},
    ],
    "legacy Places details": [
        {"status": "OK", "result": place | {"reviews": [{"rating": n, "text": f"R {n}"} for n in (1, 2, 3)]}}
        for place in (OLD_PLACES[0], OTHER_OLD_PLACES[3])
    ],
    "Geocoding": [
        {"status": "OK", "results": [ADDRESS] * 2},
        {"status": "OK", "results": [ADDRESS | {"address_components": PARTS, "types": ["locality"]}]},
    ],
    "Street View metadata": [NEAREST | {"date": "2026-01", "copyright": "G"}, NEAREST],
    "Map Tiles metadata": [CAPTURE, OTHER_CAPTURE],
    "Map Tiles panoIds": [{"panoIds": ["a", "b", "c"]}, {"panoIds": ["a", "", "c"]}],
    "Routes": [
        {"routes": [WAY | {"legs": [{"steps": [STEP, STEP]}]}]},
        {"routes": [WAY | {"legs": [{"steps": [SIGNED, SIGNED]}], "description": "Lange Straße"}]},
    ],
    "Routes legs": [{"routes": [{"legs": [{"duration": "80s"}] * 3}]}],
    "Routes by public transport": [
        {"routes": [{"duration": "80s", "legs": [{"steps": [STEP, STEP | {"transitDetails": RIDE}, STEP]}]}]}
    ],
    "Routes matrix": [
        [PAIR | {"destinationIndex": number} for number in range(3)],
        [
            {"condition": "ROUTE_EXISTS", "duration": "0s", "status": {}},
            {"destinationIndex": 1, "condition": "ROUTE_NOT_FOUND"},
            {"destinationIndex": 2, "status": {"code": 3, "message": "Invalid"}},
        ],
    ],
    "legacy Directions": [
        {"status": "OK", "routes": [{"legs": [OLD_LEG]}]},
        {"status": "OK", "routes": [{"legs": [OLD_LEG | {"steps": [OLD_TURN]}], "warnings": ["Beta"]}]},
    ],
    "legacy Directions by public transport": [{"status": "OK", "routes": [{"legs": [OLD_RIDDEN]}]}],
    "legacy matrix": [
        {"status": "OK", "rows": [{"elements": [CELL] * 3}]},
        {"status": "OK", "rows": [{"elements": [CELL, NO_CELL, CELL]}], "origin_addresses": [""]},
    ],
    "OSRM route": [
        {"code": "Ok", "routes": [{"legs": [OSRM_LEG]}]},
        {"code": "Ok", "routes": [{"legs": [OSRM_LEG | {"steps": [OSRM_STEP, NUMBERED], "summary": ""}]}]},
    ],
    "OSRM table": [
        {"code": "Ok", "durations": [row], "sources": [{}], "destinations": [{"distance": 1.0}] * 3}
        for row in ([10.0, 20.0, 30.0], [10.0, None, 0])
    ],
    "Valhalla route": [
        {"trip": {"legs": [LEG], "units": "kilometers"}},
        {"trip": {"legs": [LEG | {"maneuvers": [FIRST, UNNAMED]}], "status": 0, "language": "fr-FR"}},
    ],
    "Valhalla matrix": [
        {"sources_to_targets": [[{"time": 10, "distance": 1.0}] * 3]},
        {
            "sources_to_targets": [
                [{"time": 10, "to_index": 0}, {"time": None, "distance": None}, {"time": 0}]
            ]
        },
    ],
    "Overpass": [
        {"elements": ELEMENTS, "version": 0.6},
        {
            "elements": varied(
                OTHER_ELEMENTS, {"tags": {"amenity": "cafe", "name": "Café", "name:ja": "喫茶"}}
            ),
            "osm3s": {"timestamp_osm_base": "2026-11-24T09:00:00Z"},
        },
    ],
    "Nominatim search": [MATCHES, OTHER_MATCHES],
    "Nominatim reverse": [MATCHES[0], OTHER_MATCHES[0]],
    "RentCast": [HOMES, OTHER_HOMES],
    "Panoramax": [{"features": ITEMS}, {"features": OTHER_ITEMS, "links": [{"rel": "self", "href": "/x"}]}],
    "Mapillary": [{"data": IMAGES}, {"data": OTHER_IMAGES}],
}
"""By their kind."""
