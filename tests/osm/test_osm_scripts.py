"""Names in many scripts, as a view of their shop shows them: shaped, in the right order, and not mirrored."""

from math import atan2, degrees, hypot

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont, features
from written_extract import Writer, box, rebuilt

from virl.osm.plan import Twin
from virl.pages.fonts import FONT_FOLDER, face_for, installed_faces
from virl.platform.city.streetview import Camera
from virl.towns.plan.town_plan import Sign
from virl.towns.render.renderer import CityRenderer
from virl.towns.render.storefronts import letter

SHAPED = {
    "Arabic": "مقهى بغداد",
    "Hebrew": "בית קפה הגליל",
    "Devanagari": "मिठाई की दुकान",
    "Thai": "ร้านกาแฟสุขใจ",
}
PLAIN = {
    "Latin": "Café Ñandú", "Greek": "Φαρμακείο", "Cyrillic": "Аптека Здоровье", "Chinese": "北京烤鸭店",
    "Japanese": "すし田中", "Korean": "카페 한강",
}  # fmt: skip
SIZE = 240, 48
Marks = NDArray[np.float64]


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Twin:
    """A street with a shop for each script."""
    made = Writer(tmp_path_factory.mktemp("scripts") / "town.osm.pbf")
    made.way((-20, 0), (200, 0), highway="residential", name="Main Street")
    for number, name in enumerate((SHAPED | PLAIN).values()):
        made.way(*box(18 * number, 8, 18 * number + 12, 20), building="yes", height="9")
        made.node(18 * number + 6, 8.5, amenity="cafe", name=name)
    return rebuilt(made)


@pytest.fixture(scope="module")
def renderer(twin: Twin) -> CityRenderer:
    return CityRenderer(twin.plan)


def sign_of(twin: Twin, name: str) -> Sign:
    return next(
        s
        for shop in twin.plan.shops
        for s in shop.signs
        if (shop.place.name, s.text, s.kind) == (name, name, "fascia")
    )


def seen(renderer: CityRenderer, sign: Sign) -> Marks:
    """The letters of a sign in a view from 7 m before it, cut out and brought to one size."""
    (ax, ay), (bx, by) = sign.left, sign.right
    wide = hypot(bx - ax, by - ay)
    x, y = (ax + bx) / 2 + 7 * (by - ay) / wide, (ay + by) / 2 - 7 * (bx - ax) / wide
    camera = Camera(degrees(atan2((ax + bx) / 2 - x, (ay + by) / 2 - y)), 4, 60, 1280, 960)
    shown = next(one for one in renderer.visible(x, y, camera, 12, ["sign"]) if one.id == sign.id)
    left, top, right, bottom = map(int, shown.box)
    rim = (bottom - top) // 12 + 2
    board = renderer.picture(x, y, camera)[top + rim : bottom - rim, left + rim : right - rim].astype(float)
    ink = np.abs(board - np.median(board, axis=(0, 1))).sum(axis=2)
    return cut_out(ink)


def drawn(text: str, layout: ImageFont.Layout) -> Marks:
    """The letters as Pillow sets them alone."""
    face = ImageFont.truetype(str(FONT_FOLDER / face_for(text, 0)), 80, layout_engine=layout)
    picture = Image.new("L", (1600, 240))
    ImageDraw.Draw(picture).text((60, 60), text, font=face, fill=255)
    return cut_out(np.asarray(picture, float))


def cut_out(ink: Marks) -> Marks:
    rows, columns = np.nonzero(ink > 0.4 * ink.max())
    part = ink[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    return np.asarray(cv2.GaussianBlur(cv2.resize(part, SIZE, interpolation=cv2.INTER_AREA), (5, 5), 0))


def alike(one: Marks, other: Marks) -> float:
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


@pytest.mark.skipif(not features.check("raqm"), reason="Pillow has no Raqm without FriBiDi")
@pytest.mark.parametrize("name", SHAPED.values(), ids=SHAPED)
def test_scripts_that_join_stack_or_run_from_the_right_are_set_as_written(
    name: str, twin: Twin, renderer: CityRenderer
) -> None:
    board = seen(renderer, sign_of(twin, name))
    shaped, unshaped = drawn(name, ImageFont.Layout.RAQM), drawn(name, ImageFont.Layout.BASIC)
    assert alike(board, shaped) > 0.92
    assert alike(board, shaped[:, ::-1]) < 0.7, "mirrored"
    if name != SHAPED["Thai"]:  # whose marks stand right either way in this face
        assert alike(shaped, unshaped) < 0.9, "the name would not tell"


@pytest.mark.parametrize("name", PLAIN.values(), ids=PLAIN)
def test_other_scripts_run_from_the_left_and_are_not_mirrored(
    name: str, twin: Twin, renderer: CityRenderer
) -> None:
    board, alone = seen(renderer, sign_of(twin, name)), drawn(name, ImageFont.Layout.BASIC)
    least = 0.5 if name == PLAIN["Latin"] else 0.85  # a board may be set in another of the Latin faces
    assert alike(board, alone) > least
    assert alike(board, alone) > alike(board, alone[:, ::-1]) + 0.2


def test_an_extra_adds_scripts(made: Writer) -> None:
    pytest.importorskip("fontpkg_noto_sans_tamil")
    name = "அடுமனை"
    if not features.check("raqm"):
        pytest.skip("Pillow has no Raqm without FriBiDi")
    [face] = [face for face in installed_faces() if "NotoSansTamil" in face]
    assert face_for(name, 0) == face
    made.way(*box(-40, 8, 0, 25), building="yes", building__levels="3")
    made.node(-20, 10, shop="bakery", name=name)
    [shop] = rebuilt(made).plan.shops
    assert shop.signs[0].text == name
    coverage = letter(shop.signs[0])
    assert 0.02 < (coverage > 127).mean() < 0.6
