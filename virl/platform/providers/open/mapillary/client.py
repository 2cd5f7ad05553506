"""Lists and pictures of Mapillary."""

from collections.abc import Sequence
from dataclasses import replace

from virl.errors import ProviderError
from virl.platform.providers.http.bodies import ReplyBody, Wanted
from virl.platform.providers.http.faults import HttpFault, Received
from virl.platform.providers.http.judging import usual_judge
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.mapillary.images import FIELDS, Images, shot_of
from virl.platform.providers.open.pictures import PictureServer, PictureService, PictureSettings, Token
from virl.platform.providers.open.shots import Shot

THUMBS = {"sd": "thumb_2048_url", "hd": "thumb_original_url"}

_TOO_MUCH = "reduce the amount of data"  # in a refusal whose box holds too much, whatever its size and status
_BUSY = frozenset({"2", "4"})
"""Codes of refusals that pass: the service fails for a while, or the token has asked too much."""
_STATUSES = {"100": 404, "190": 401}
"""Statuses by code: there is no such object, or it was taken away; the token is not valid."""
_EXPIRED = frozenset({403, 410})


class _Address(ReplyBody):
    thumb_2048_url: str = ""
    thumb_original_url: str = ""


def judge(wanted: Wanted, reply: Received) -> Received | HttpFault:
    """Judge a reply; the address of a picture that has expired is asked for again."""
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
    """The Graph API.

    Args:
        server: of the API.
    """

    def __init__(self, server: PictureServer) -> None:
        self._server = server

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """Return the pictures in a square; `None` where there are too many for one reply.

        Raises:
            ProviderError: the service fails, or refuses the token.
        """
        page = self._server.settings.page
        box = ",".join(f"{degrees:.7f}" for degrees in cell.degrees)
        query = {"bbox": box, "limit": str(page), "fields": FIELDS}
        try:
            found = self._server.service.read(
                self._server.request("mapillary_images", "/images", query), Images
            )
        except ProviderError as fault:
            if fault.verdict == "smaller":
                return None
            raise
        if len(found.data) >= page:
            return None
        shots = [shot_of(image) for image in found.data if image]
        return [shot for shot in shots if cell.contains(shot.position)]

    def picture(self, shot: Shot, part: str) -> bytes:
        """Return a picture as a JPEG file. Its address is signed and expires, so each try asks for it.

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
