import numpy as np
import pytest
from contracts import ListingsContract, MapsContract, PlacesContract, StreetViewContract

from virl.errors import NoStreetView
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.providers import open_city


@pytest.fixture(scope="session")
def city() -> City:
    return open_city("virlton")


@pytest.mark.slow
class TestVirlton(StreetViewContract, PlacesContract, MapsContract, ListingsContract):
    @pytest.mark.slow
    def test_a_panorama_image_shows_what_views_show(self, city: City) -> None:
        whole = city.streetview.panorama_image("vt-00500", 2048)  # type: ignore[attr-defined]
        assert whole.shape == (1024, 2048, 3)
        for heading in (0, 90, 180, 270):
            view = city.streetview.view("vt-00500", Camera(heading, fov=20, width=64, height=64)).pixels
            column = (1024 + heading * 2048 // 360) % 2048
            patch = np.roll(whole, 1024 - column, axis=1)[456:568, 968:1080]
            assert np.abs(view.mean(axis=(0, 1)) - patch.mean(axis=(0, 1))).max() < 8
        with pytest.raises(NoStreetView, match="not-there"):
            city.streetview.panorama_image("not-there")  # type: ignore[attr-defined]
