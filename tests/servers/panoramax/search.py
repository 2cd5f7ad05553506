"""The searches of Panoramax."""

from collections.abc import Sequence
from threading import Lock

from fastapi import Response

from servers.dispatch import OpenRequest, Refusal, answer
from servers.panoramax.items import Json, collection_id, collection_of, item_of, picture_id
from servers.uploads.uploads import Upload, Uploads
from virl.geo.globe import LatLng, distances

GEOJSON = "application/geo+json"
MOST, USUAL = 10_000, 10
"""Greatest and default number of items of a search."""


class Catalogue:
    """Handlers of what is listed.

    Args:
        uploads: the pictures.
    """

    def __init__(self, uploads: Uploads) -> None:
        self.uploads = uploads
        self._by_id = {picture_id(one): one for one in uploads.all}
        self._by_collection = {collection_id(one[0]): one for one in uploads.sequences.values()}
        self._listed: set[int] = set()
        self._lock = Lock()

    def landing(self, asked: OpenRequest) -> Response:
        """The root of the API."""
        links = [
            {"rel": "search", "type": GEOJSON, "href": f"{asked.base_url}/api/search"},
            {"rel": "data", "href": f"{asked.base_url}/api/collections"},
        ]
        return answer({"type": "Catalog", "stac_version": "1.0.0", "id": "geovisio", "links": links})

    def instances(self, asked: OpenRequest) -> Response:
        """The one instance."""
        return answer({"instances": [{"name": "made", "url": asked.base_url}]})

    def search(self, asked: OpenRequest) -> Response:
        """Items in a box, the nearest to its middle first. There are no pages."""
        limit = _whole(asked, "limit", USUAL, MOST)
        if "bbox" not in asked.query:
            found: Sequence[Upload] = sorted(self.uploads.all, key=lambda one: one.taken, reverse=True)
            return self._features(found[:limit], asked)
        west, south, east, north = _box(asked.query["bbox"])
        middle = LatLng((south + north) / 2, (west + east) / 2)
        found = self.uploads.within(west, south, east, north)
        away = distances(
            middle.lat, middle.lng, [one.position.lat for one in found], [one.position.lng for one in found]
        )
        order = sorted(range(len(found)), key=lambda number: float(away[number]))
        return self._features([found[number] for number in order[:limit]], asked)

    def collections(self, asked: OpenRequest) -> Response:
        """All sequences."""
        all_of_them = [collection_of(one, asked.base_url) for one in self._by_collection.values()]
        return answer({"collections": all_of_them, "links": []})

    def collection(self, asked: OpenRequest) -> Response:
        """One sequence."""
        return answer(collection_of(self._sequence(asked), asked.base_url))

    def items(self, asked: OpenRequest) -> Response:
        """The items of a sequence, in the order of their ranks, page by page if there is a limit."""
        sequence = self._sequence(asked)
        limit = _whole(asked, "limit", len(sequence), MOST)
        after = _whole(asked, "startAfterRank", 0, MOST * MOST, least=0)
        page = [one for one in sequence if one.rank + 1 > after][:limit]
        links = []
        if page and page[-1].rank + 1 < len(sequence):
            address = f"{asked.base_url}/api/collections/{asked.path['collection']}/items"
            href = f"{address}?limit={limit}&startAfterRank={page[-1].rank + 1}"
            links.append({"rel": "next", "type": GEOJSON, "href": href})
        return self._features(page, asked, links)

    def item(self, asked: OpenRequest) -> Response:
        """One item, with its neighbours."""
        upload = self.upload(asked)
        return answer(self._item(upload, asked, alone=True), media_type=GEOJSON)

    def upload(self, asked: OpenRequest) -> Upload:
        """The picture that a path names.

        Raises:
            Refusal: there is none, or it was taken away.
        """
        found = self._by_id.get(asked.path["picture"])
        if found is None or self.uploads.has("deleted", found):
            raise Refusal(404, "Impossible to find picture")
        return found

    def _sequence(self, asked: OpenRequest) -> list[Upload]:
        if asked.path["collection"] not in self._by_collection:
            raise Refusal(404, "Collection doesn't exist")
        return self._by_collection[asked.path["collection"]]

    def _features(self, found: Sequence[Upload], asked: OpenRequest, links: Sequence[Json] = ()) -> Response:
        root = {"rel": "root", "href": f"{asked.base_url}/api/"}
        features = [self._item(one, asked, alone=False) for one in found]
        with self._lock:
            self._listed.update(one.key for one in found)
        return answer(
            {"type": "FeatureCollection", "features": features, "links": [root, *links]}, media_type=GEOJSON
        )

    def _item(self, upload: Upload, asked: OpenRequest, *, alone: bool) -> Json:
        before = upload.key in self._listed
        return item_of(upload, self.uploads, asked.base_url, listed_before=before, alone=alone)


def refused(refusal: Refusal) -> Response:
    """A refusal as GeoVisio words it."""
    return answer({"message": refusal.message, "status_code": refusal.status}, refusal.status)


def _whole(asked: OpenRequest, name: str, usual: int, most: int, least: int = 1) -> int:
    text = asked.query.get(name)
    if text is None:
        return usual
    if not (text.isascii() and text.isdecimal() and least <= int(text) <= most):
        raise Refusal(400, f"{name} parameter should be an integer between {least} and {most}")
    return int(text)


def _box(text: str) -> tuple[float, float, float, float]:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise Refusal(400, "Parameter bbox must be in format [minX, minY, maxX, maxY]") from None
    if not (-180 <= west <= east <= 180 and -90 <= south <= north <= 90):
        raise Refusal(400, "Parameter bbox must contain valid longitude and latitude values")
    return west, south, east, north
