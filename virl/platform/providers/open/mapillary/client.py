"""Lists and pictures of Mapillary."""

from collections.abc import Sequence
from dataclasses import replace

from virl.errors import ProviderError
from virl.platform.providers.http.bodies import ReplyBody, Wanted
from virl.platform.providers.http.faults import HttpFault, Received
from virl.platform.providers.http.judging import usual_judge
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.mapillary.images import FIELDS, Ids, Images, shot_of
from virl.platform.providers.open.pictures import PictureServer, PictureService, PictureSettings, Token
from virl.platform.providers.open.shots import THIN, Shot

THUMBS = {"sd": "thumb_2048_url", "hd": "thumb_original_url"}
"""Field with the URL of each size of a picture."""

_TOO_MUCH = "reduce the amount of data"
"""Words of a refusal whose square holds too much."""
_BUSY = frozenset({"2", "4"})
"""Codes of refusals that pass: the service fails for a while, or the token has asked too much."""
_STATUSES = {"100": 404, "190": 401}
"""HTTP status for a code: no such object, or no valid token."""
_EXPIRED = frozenset({403, 410})
"""HTTP statuses of a picture's URL that has expired."""
_BATCH = 100
"""Images in one request by ids (chosen: their fields are about 60 kB)."""


class _Address(ReplyBody):
    thumb_2048_url: str = ""
    thumb_original_url: str = ""


def judge(wanted: Wanted, reply: Received) -> Received | HttpFault:
    """Return a good reply, or its fault; a picture's expired URL may be asked for again."""
    judged = usual_judge(wanted, reply)
    if isinstance(judged, Received) or reply.status == 200:
        return judged
    status = _STATUSES.get(judged.code, reply.status)
    if _TOO_MUCH in judged.reason:
        return replace(judged, verdict="smaller", status=status)
    if judged.code in _BUSY or (wanted.kind == "image" and reply.status in _EXPIRED):
        return replace(judged, verdict="wait", status=status)
    return replace(judged, status=status)


class Mapillary:
    """A client of Mapillary's Graph API.

    Args:
        server: of the API.
    """

    def __init__(self, server: PictureServer) -> None:
        self._server = server
        self._by_ids: dict[str, Shot] = {}

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """Return the pictures in a square; `None` where there are too many for one reply.

        The search by box is known to leave out some or all. Where it gives few, it is asked once more, and
        the sequences that it names are completed by their own lists.

        Raises:
            ProviderError: the service fails, or refuses the token.
        """
        page = self._server.settings.page
        box = ",".join(f"{degrees:.7f}" for degrees in cell.degrees)
        try:
            count, found = self._images({"bbox": box, "limit": str(page)})
        except ProviderError as fault:
            if fault.verdict == "smaller":
                return None
            raise
        if count >= page:
            return None
        if count < min(THIN, page):
            try:
                # another limit, so that a recording holds both replies
                found |= self._images({"bbox": box, "limit": str(max(page - 1, 1))})[1]
                for sequence in sorted({shot.sequence for shot in found.values()}):
                    found = self._sequence(sequence, found) | found
            except ProviderError as fault:
                self._server.service.notes("Mapillary: mapillary_images")(
                    f"the square {cell.name} may lack pictures: {fault.reason}", cell.name
                )
        return [shot for shot in found.values() if cell.contains(shot.position)]

    def _images(self, query: dict[str, str]) -> tuple[int, dict[str, Shot]]:
        """Return (number of images in a reply, readable ones by id)."""
        request = self._server.request("mapillary_images", "/images", query | {"fields": FIELDS})
        images = self._server.service.read(request, Images).data
        return len(images), {image.id: shot_of(image) for image in images if image}

    def _sequence(self, sequence: str, known: dict[str, Shot]) -> dict[str, Shot]:
        """Return the pictures of a sequence that are not in `known`, by id."""
        request = self._server.request("mapillary_image_ids", "/image_ids", {"sequence_id": sequence})
        listed = [one.id for one in self._server.service.read(request, Ids).data]
        missing = [one for one in listed if one not in known and one not in self._by_ids]
        for first in range(0, len(missing), _BATCH):
            self._by_ids |= self._images({"image_ids": ",".join(missing[first : first + _BATCH])})[1]
        return {one: self._by_ids[one] for one in listed if one in self._by_ids}

    def picture(self, shot: Shot, part: str) -> bytes:
        """Return a picture as a JPEG file; its URL expires, so each try asks for a new one.

        Args:
            shot: which.
            part: `sd` or `hd`.

        Raises:
            ProviderError: the service fails, or has the picture no more (status 404).
        """
        path = f"/{shot.id}/{part}"
        return self._server.service.bytes(
            self._server.request(f"mapillary_{part}", path, url=lambda: self._address(shot, part))
        )

    def _address(self, shot: Shot, part: str) -> str:
        """Return the URL of a picture in a size, which does not last."""
        query = {"fields": THUMBS[part]}
        request = self._server.request("mapillary_address", f"/{shot.id}", query, is_recorded=False)
        return str(getattr(self._server.service.read(request, _Address), THUMBS[part]))


PICTURES = PictureService(
    PictureSettings(
        title="Mapillary",
        base_url="https://graph.mapillary.com",
        per_minute=600,  # chosen: 50,000 and more were published in 2023
        page=2000,  # the most that a box gives (API documentation)
    ),
    Mapillary,
    judge,
    Token("MAPILLARY_ACCESS_TOKEN", "OAuth ", "mapillary.com/dashboard/developers"),
)
