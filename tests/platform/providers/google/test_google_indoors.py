"""Panoramas taken indoors, which a walker does not enter."""

import pytest
from served_google import google_over

from virl.geo.globe import distance
from virl.platform.city.city import City
from virl.platform.providers.google.city_file import GoogleOptions
from virl.serve.google.options import ServeOptions, parse_oddities

ODD = parse_oddities("indoor:0.4")


@pytest.mark.slow
def test_no_link_leads_indoors_unless_that_is_asked_for(virlton: City) -> None:
    start = virlton.streetview.nearest(virlton.center)
    assert start
    indoor = {link.pano_id for link in start.links if ODD.has("indoor", link.pano_id)}
    assert indoor, "another share or seed would show more"
    with google_over(virlton, None, ServeOptions(lossless=True, odd=ODD)) as google:
        linked = {link.pano_id for link in google.city.streetview.panorama(start.id).links}
        assert linked == {link.pano_id for link in start.links} - indoor
        open_to_all = google.reopened(GoogleOptions(outdoor=False)).city.streetview
        assert {link.pano_id for link in open_to_all.panorama(start.id).links} == linked | indoor


@pytest.mark.slow
def test_many_positions_find_what_is_outdoors(virlton: City) -> None:
    ends = [virlton.streetview.panorama(f"vt-{number:05d}").position for number in range(20)]
    with google_over(virlton, None, ServeOptions(lossless=True, odd=ODD)) as google:
        found = google.city.streetview.nearest_many(ends, 50.0)
    assert not [one.id for one in found if one and ODD.has("indoor", one.id)]
    assert any(one and distance(end, one.position) > 1 for one, end in zip(found, ends, strict=True))
