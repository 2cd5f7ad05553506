"""Uploads as items and collections of STAC, as GeoVisio writes them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from servers.uploads.uploads import AUTHORS, FLAT_FOV, Upload, Uploads
from virl.platform.city.streetview import Attitude

LICENCES = ("CC-BY-SA-4.0", "etalab-2.0")
"""Licences of the authors, in turn."""
CLOSED = "all-rights-reserved"
URLS = {
    "CC-BY-SA-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "etalab-2.0": "https://www.etalab.gouv.fr/licence-ouverte-open-licence/",
}
Json = dict[str, Any]


def picture_id(upload: Upload) -> str:
    """The id of its item."""
    return str(UUID(int=upload.key, version=4))


def collection_id(upload: Upload) -> str:
    """The id of its sequence."""
    return str(UUID(int=upload.drive, version=4))


def columns_of(width: int) -> int:
    """Tiles across a panorama: the most of 4, 8, 16, 32 and 64 that are at least 512 pixels wide."""
    return max([columns for columns in (4, 8, 16, 32, 64) if columns <= width / 512], default=4)


def item_of(upload: Upload, uploads: Uploads, base_url: str, *, listed_before: bool, alone: bool) -> Json:
    """An item.

    Args:
        upload: the picture.
        uploads: that it is one of.
        base_url: of the server.
        listed_before: whether it was in a listing before, so that its licence may have changed.
        alone: whether it is asked for by itself, which gives its neighbours.
    """
    name, width = picture_id(upload), uploads.options.width
    address = f"{base_url}/api/pictures/{name}"
    lng, lat = upload.position.lng, upload.position.lat
    author = AUTHORS[upload.author]
    licence = LICENCES[upload.author % len(LICENCES)]
    if listed_before and uploads.has("relicensed", upload):
        licence = CLOSED
    camera: Json = {"camera_manufacturer": "Made", "camera_model": "Up"}
    camera["field_of_view"] = FLAT_FOV if upload.flat else 360
    camera["sensor_array_dimensions"] = [1280, 960] if upload.flat else [width, width // 2]
    taken = upload.taken.isoformat()
    item: Json = {
        "type": "Feature",
        "stac_version": "1.0.0",
        "id": name,
        "collection": collection_id(upload),
        "geometry": {"type": "Point", "coordinates": [lng, lat]},
        "bbox": [lng, lat, lng, lat],
        "providers": [{"name": author, "roles": ["producer"], "id": str(UUID(int=upload.author + 1))}],
        "properties": {
            "datetime": taken,
            "datetimetz": taken,
            "created": taken,
            "updated": taken,
            "license": licence,
            "view:azimuth": round(upload.heading) % 360,
            **_pose(upload.held),
            "pers:interior_orientation": camera,
            "geovisio:producer": author,
            "geovisio:rank_in_collection": upload.rank + 1,
            "geovisio:image": f"{address}/hd.jpg",
            "geovisio:thumbnail": f"{address}/thumb.jpg",
            "quality:horizontal_accuracy": 4.0,
            "exif": {"Exif.Image.Make": "Made"},
            "semantics": [],
        },
        "assets": {
            part: {"type": "image/jpeg", "roles": [role], "href": f"{address}/{part}.jpg"}
            for part, role in (("hd", "data"), ("sd", "visual"), ("thumb", "thumbnail"))
        },
        "links": [
            {"rel": "root", "href": f"{base_url}/api/"},
            {"rel": "self", "href": f"{base_url}/api/collections/{collection_id(upload)}/items/{name}"},
            {"rel": "collection", "href": f"{base_url}/api/collections/{collection_id(upload)}"},
            {"rel": "license", "href": URLS.get(licence, "")},
        ],
    }
    if not upload.flat:
        _add_tiles(item, name, width, address)
    if alone:
        item["properties"] |= {"geovisio:status": "ready", "geovisio:visibility": "anyone"}
        item["links"] += _neighbours(upload, uploads.sequences[upload.drive], base_url)
    return item


def collection_of(sequence: Sequence[Upload], base_url: str) -> Json:
    """A sequence."""
    lats, lngs = [one.position.lat for one in sequence], [one.position.lng for one in sequence]
    name = collection_id(sequence[0])
    return {
        "type": "Collection",
        "stac_version": "1.0.0",
        "id": name,
        "title": f"Drive of {sequence[0].taken:%Y-%m-%d}",
        "description": "A sequence of geolocated pictures",
        "license": LICENCES[sequence[0].author % len(LICENCES)],
        "providers": [{"name": AUTHORS[sequence[0].author], "roles": ["producer"]}],
        "extent": {
            "spatial": {"bbox": [[min(lngs), min(lats), max(lngs), max(lats)]]},
            "temporal": {"interval": [[sequence[0].taken.isoformat(), sequence[-1].taken.isoformat()]]},
        },
        "stats:items": {"count": len(sequence)},
        "links": [{"rel": "items", "href": f"{base_url}/api/collections/{name}/items"}],
    }


def _pose(held: Attitude) -> Json:
    return {} if held.is_level else {"pers:pitch": held.pitch, "pers:roll": held.roll, "pers:yaw": 0.0}


def _add_tiles(item: Json, name: str, width: int, address: str) -> None:
    columns = columns_of(width)
    matrix = {
        "type": "TileMatrixType",
        "identifier": "0",
        "scaleDenominator": 1,
        "topLeftCorner": [0, 0],
        "tileWidth": width // columns,
        "tileHeight": width // columns,
        "matrixWidth": columns,
        "matrixHeight": columns // 2,
    }
    item["properties"]["tiles:tile_matrix_sets"] = {
        "geovisio": {"type": "TileMatrixSetType", "identifier": f"geovisio-{name}", "tileMatrix": [matrix]}
    }
    item["asset_templates"] = {
        "tiles": {
            "type": "image/jpeg",
            "roles": ["data"],
            "href": f"{address}/tiled/{{TileCol}}_{{TileRow}}.jpg",
        }
    }


def _neighbours(upload: Upload, sequence: Sequence[Upload], base_url: str) -> list[Json]:
    beside = [("prev", upload.rank - 1), ("next", upload.rank + 1)]
    return [
        {
            "rel": rel,
            "type": "application/geo+json",
            "id": picture_id(one),
            "geometry": {"type": "Point", "coordinates": [one.position.lng, one.position.lat]},
            "href": f"{base_url}/api/collections/{collection_id(one)}/items/{picture_id(one)}",
        }
        for rel, rank in beside
        if 0 <= rank < len(sequence)
        for one in (sequence[rank],)
    ]
