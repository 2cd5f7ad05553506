import cv2
import httpx
import numpy as np
import pytest

from virl.geo import globe
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, Image
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city

HERE = "vt-00042"


def decoded(response: httpx.Response) -> Image:
    image = cv2.imdecode(np.frombuffer(response.content, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return np.asarray(image[..., ::-1], np.uint8)


def difference(one: Image, other: Image) -> float:
    return float(np.abs(one.astype(float) - other.astype(float)).mean())


def where(city: City) -> dict[str, str]:
    return {"location": f"{city.center.lat},{city.center.lng}"}


class TestStatic:
    def test_metadata_names_the_panorama_nearest_to_a_position(
        self, client: httpx.Client, city: City
    ) -> None:
        nearest = city.streetview.nearest(city.center)
        assert nearest is not None
        assert client.get("/maps/api/streetview/metadata", params=where(city)).json() == {
            "copyright": "\u00a9 Google",
            "date": nearest.date,
            "location": {"lat": nearest.position.lat, "lng": nearest.position.lng},
            "pano_id": nearest.id,
            "status": "OK",
        }

    @pytest.mark.parametrize(
        ("query", "status"),
        [
            ({"location": "0,0"}, "ZERO_RESULTS"),
            ({"pano": "not-there"}, "ZERO_RESULTS"),
            ({"location": "no such street 17"}, "NOT_FOUND"),
            ({"location": "91,0"}, "INVALID_REQUEST"),
            ({"location": "41.25,-38.75", "source": "indoor"}, "INVALID_REQUEST"),
            ({}, "INVALID_REQUEST"),
        ],
    )
    def test_metadata_says_what_is_wrong_in_its_status(
        self, client: httpx.Client, query: dict[str, str], status: str
    ) -> None:
        answer = client.get("/maps/api/streetview/metadata", params=query)
        assert answer.status_code == 200
        assert answer.json()["status"] == status

    def test_an_address_is_looked_up(self, client: httpx.Client, city: City) -> None:
        wanted = city.streetview.nearest(city.maps.geocode("91 Station Street"))
        assert wanted is not None
        answer = client.get("/maps/api/streetview/metadata", params={"location": "91 Station Street"})
        assert answer.json()["pano_id"] == wanted.id

    @pytest.mark.slow
    def test_the_image_is_what_the_camera_sees(self, client: httpx.Client, city: City) -> None:
        query = {"pano": HERE, "size": "320x200", "heading": "33.5", "pitch": "5", "fov": "60"}
        answer = client.get("/maps/api/streetview", params=query)
        assert answer.headers["content-type"] == "image/jpeg"
        truth = city.streetview.view(HERE, Camera(33.5, 5, 60, 320, 200)).pixels
        assert difference(decoded(answer), truth) < 5
        assert difference(decoded(answer), truth[:, ::-1]) > 10

    @pytest.mark.slow
    def test_without_a_heading_the_camera_faces_the_position(self, client: httpx.Client, city: City) -> None:
        panorama = city.streetview.panorama(HERE)
        beside = globe.destination(panorama.position, 100, 4)
        wanted = {"location": f"{beside.lat!r},{beside.lng!r}", "size": "160x120"}
        seen = decoded(client.get("/maps/api/streetview", params=wanted))
        truth = city.streetview.view(HERE, Camera(100, width=160, height=120)).pixels
        assert difference(seen, truth) < 6

    def test_where_there_is_no_picture_a_gray_one_or_404(self, client: httpx.Client) -> None:
        query = {"location": "0,0", "size": "200x100"}
        gray = client.get("/maps/api/streetview", params=query)
        assert gray.status_code == 200
        assert decoded(gray).shape == (100, 200, 3)
        assert (
            client.get("/maps/api/streetview", params={**query, "return_error_code": "true"}).status_code
            == 404
        )

    @pytest.mark.parametrize(
        "wrong",
        [
            {"size": "641x100"},
            {"size": "15x100"},
            {"size": ""},
            {"fov": "121"},
            {"pitch": "91"},
            {"fov": "x"},
        ],
    )
    def test_limits_are_kept(self, client: httpx.Client, wrong: dict[str, str]) -> None:
        answer = client.get("/maps/api/streetview", params={"pano": HERE, "size": "100x100", **wrong})
        assert answer.status_code == 400

    @pytest.mark.slow
    def test_lossless_pictures_are_exact(self, city: City) -> None:
        with serve_city(city, ServeOptions(lossless=True)) as server:
            query = {"key": "k", "pano": HERE, "size": "64x48", "heading": "10"}
            answer = httpx.get(f"{server.url}/maps/api/streetview", params=query)
        truth = city.streetview.view(HERE, Camera(10, width=64, height=48)).pixels
        assert np.array_equal(decoded(answer), truth)


class TestTiles:
    def test_a_hundred_locations_in_one_request(self, client: httpx.Client, session: str, city: City) -> None:
        places = [globe.destination(city.center, 3.6 * i, 5.0 * i) for i in range(99)]
        locations = [{"lat": place.lat, "lng": place.lng} for place in places] + [{"lat": 0.0, "lng": 0.0}]
        query = {"session": session}
        found = client.post(
            "/v1/streetview/panoIds", params=query, json={"locations": locations, "radius": 40}
        )
        nearest = [city.streetview.nearest(place, 40) for place in places]
        assert found.json()["panoIds"] == [one.id if one else "" for one in nearest] + [""]
        more = [*locations, locations[0]]
        refused = client.post("/v1/streetview/panoIds", params=query, json={"locations": more, "radius": 40})
        assert refused.status_code == 400
        assert refused.json()["error"]["status"] == "INVALID_ARGUMENT"

    def test_metadata_holds_position_heading_and_links(
        self, client: httpx.Client, session: str, city: City
    ) -> None:
        found = client.get("/v1/streetview/metadata", params={"session": session, "panoId": HERE}).json()
        truth = city.streetview.panorama(HERE)
        assert (found["lat"], found["lng"], found["heading"]) == (*truth.position, truth.heading)
        assert [(link["panoId"], link["heading"]) for link in found["links"]] == [
            (link.pano_id, link.heading) for link in truth.links
        ]
        assert found["imageWidth"] == 2 * found["imageHeight"] == 1024
        by_position = {"session": session, "lat": truth.position.lat, "lng": truth.position.lng, "radius": 5}
        assert client.get("/v1/streetview/metadata", params=by_position).json() == found

    @pytest.mark.slow
    def test_tiles_make_a_panorama_whose_middle_faces_its_heading(
        self, client: httpx.Client, session: str, city: City
    ) -> None:
        query = {"session": session, "panoId": HERE}
        halves = [client.get(f"/v1/streetview/tiles/1/{x}/0", params=query) for x in (0, 1)]
        whole = np.hstack([decoded(half) for half in halves])
        assert whole.shape == (512, 1024, 3)
        ahead = city.streetview.view(
            HERE, Camera(city.streetview.panorama(HERE).heading, 0, 60, 96, 96)
        ).pixels
        middle = whole[256 - 10 : 256 + 10, 512 - 10 : 512 + 10].mean(axis=(0, 1))
        around = ahead[43:53, 43:53].mean(axis=(0, 1))  # 7 degrees, as the middle
        assert np.abs(middle - around).max() < 12
        one = decoded(client.get("/v1/streetview/tiles/0/0/0", params=query))
        assert one.shape == (256, 512, 3)
        assert difference(one, np.asarray(cv2.resize(whole, (512, 256), interpolation=cv2.INTER_AREA))) < 8

    @pytest.mark.parametrize(
        ("path", "code"), [("1/2/0", 400), ("6/0/0", 400), ("1/x/0", 400), ("2/0/0", 404)]
    )
    def test_tiles_that_are_not_there(self, client: httpx.Client, session: str, path: str, code: int) -> None:
        query = {"session": session, "panoId": HERE}
        assert client.get(f"/v1/streetview/tiles/{path}", params=query).status_code == code

    def test_a_thumbnail(self, client: httpx.Client, session: str, city: City) -> None:
        query = {"session": session, "panoId": HERE, "width": "120", "height": "90", "yaw": "200"}
        small = decoded(client.get("/v1/streetview/thumbnail", params=query))
        assert difference(small, city.streetview.view(HERE, Camera(200, width=120, height=90)).pixels) < 6
        assert client.get("/v1/streetview/thumbnail", params=query | {"width": "601"}).status_code == 400

    def test_an_unknown_panorama_is_not_found(self, client: httpx.Client, session: str) -> None:
        answer = client.get("/v1/streetview/metadata", params={"session": session, "panoId": "no"})
        assert (answer.status_code, answer.json()["error"]["status"]) == (404, "NOT_FOUND")

    def test_a_session_is_needed_and_must_be_of_street_view(self, client: httpx.Client) -> None:
        body = {"mapType": "roadmap", "language": "en-US", "region": "US"}
        road = client.post("/v1/createSession", json=body).json()["session"]
        for session in ("", "made-up", "e30=.00", road):
            query = {"session": session, "panoId": HERE}
            assert client.get("/v1/streetview/metadata", params=query).status_code == 400
        assert client.post("/v1/createSession", json={"mapType": "streetview"}).status_code == 400
