"""The example of a service of pictures, run as it is written."""

from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any, cast

from virl.geo.globe import LatLng
from virl.platform.providers.http.replies import ShapeT
from virl.platform.providers.http.service import Request, Service
from virl.platform.providers.open import picture_services
from virl.platform.providers.open.cells import cell_at
from virl.platform.providers.open.picture_services import PictureServer, PictureService

HERE = LatLng(48.58, 7.75)


@dataclass
class Answers:
    """A service that gives the same photos to every search, and keeps what it was asked."""

    photos: list[dict[str, object]]
    asked: list[Request] = field(default_factory=list)

    def read(self, request: Request, shape: type[ShapeT]) -> ShapeT:
        self.asked.append(request)
        return shape.model_validate({"photos": self.photos})

    def bytes(self, request: Request) -> bytes:
        self.asked.append(request)
        return b"jpeg"


def example() -> PictureService:
    """Return the service that the module's first lines show, made by running them."""
    lines = (picture_services.__doc__ or "").splitlines()
    code = dedent("\n".join(line for line in lines if line.startswith("    ") or not line))
    made: dict[str, Any] = {}
    exec(code, made)  # noqa: S102 - the documented example
    return cast("PictureService", made["PICTURES"])


def photo(number: int, **changed: object) -> dict[str, object]:
    """Return a photo of the example's service, a few metres from the others."""
    own = {"id": f"p{number}", "lat": HERE.lat + number * 1e-5, "lng": HERE.lng, "compass": 90.0}
    return own | {"drive": "d", "number": number, "taken": "2024-06-01T12:00:00Z"} | changed


def test_the_example_is_a_whole_service() -> None:
    service = example()
    answers = Answers([photo(0), photo(1, lat="north"), photo(2, lat=50.0)])
    client = service.client(PictureServer(service.settings, cast("Service", answers)))
    shots = client.shots(cell_at(HERE))
    assert shots is not None
    assert [shot.id for shot in shots] == ["p0"], "one cannot be read, one lies outside"
    assert client.picture(shots[0], "sd") == b"jpeg"
    assert [request.url for request in answers.asked] == [
        "https://streetpics.example/photos",
        "https://streetpics.example/photos/p0/sd.jpg",
    ]
    answers.photos = [photo(number) for number in range(service.settings.page)]
    assert client.shots(cell_at(HERE)) is None, "there may be more"
