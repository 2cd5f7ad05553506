"""Asks Mapillary which pictures there are, and for the pictures."""

from collections.abc import Sequence

from virl.errors import ProviderError
from virl.json_reading import read_json
from virl.platform.providers.http.bodies import ReplyBody, Wanted, read_body
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.http import Ask, OpenHttp
from virl.platform.providers.open.mapillary.images import FIELDS, Images, shots_of
from virl.platform.providers.open.shots import Shot

TOO_MUCH = "reduce the amount of data"
"""In the words of a refusal whose box holds too much, whatever its size."""
NO_SUCH = "100"
"""Code of a refusal: there is no such object, or it was taken away."""
BUSY = frozenset({"2", "4"})
"""Codes of refusals that pass: the service fails for a while, or the token has asked too much."""
THUMBS = {"sd": "thumb_2048_url", "hd": "thumb_original_url"}


class _Address(ReplyBody):
    thumb_2048_url: str = ""
    thumb_original_url: str = ""


class Mapillary:
    """The Graph API.

    Args:
        http: the way to it, with the token.
    """

    def __init__(self, http: OpenHttp) -> None:
        self.http = http

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """The pictures in a square; `None` where there are too many for one reply.

        Raises:
            ProviderError: the service fails, or refuses the token.
        """
        page = self.http.settings.page
        box = ",".join(f"{degrees:.7f}" for degrees in cell.degrees)
        query = {"bbox": box, "limit": str(page), "fields": FIELDS}
        ask = Ask("mapillary_images", "/images", query, final=TOO_MUCH)
        try:
            reply = read_json(self.http.body(ask, Wanted("object", Images)))
        except ProviderError as fault:
            if TOO_MUCH in fault.reason:
                return None
            raise
        found = read_body(Images, reply, self.http.settings.title)
        if len(found.data) >= page:
            return None
        return [shot for shot in shots_of(found) if cell.contains(shot.position)]

    def picture(self, shot: Shot, part: str) -> bytes:
        """A picture as a JPEG file. Its address is signed and expires, so it is asked for before each try.

        Args:
            shot: which.
            part: `sd` or `hd`.

        Raises:
            ProviderError: the service fails, or has the picture no more (status 404).
        """
        expired = frozenset({403, 410})
        ask = Ask(
            f"mapillary_{part}", f"/{shot.id}/{part}", url=lambda: self._address(shot, part), again=expired
        )
        try:
            return self.http.body(ask, Wanted("image"))
        except ProviderError as fault:
            if fault.code == NO_SUCH:
                raise ProviderError(fault.service, fault.reason, fault.remedy, status=404) from None
            raise

    def _address(self, shot: Shot, part: str) -> str:
        ask = Ask("mapillary_address", f"/{shot.id}", {"fields": THUMBS[part]}, is_recorded=False)
        told = read_body(
            _Address, read_json(self.http.body(ask, Wanted("object", _Address))), self.http.settings.title
        )
        return str(getattr(told, THUMBS[part]))
