"""Signs can be drawn and read: glyphs, fit, contrast, and sharpness at an angle."""

import numpy as np
import pytest
from made_corner import bare_plan, made_shop, made_sign
from PIL import Image, ImageDraw, features

from virl.errors import BadInput
from virl.pages.fonts import CJK_FACE, FACES, LATIN_FACES, SHAPED_FACES, code_points, face_for, font
from virl.platform.city.streetview import Camera
from virl.towns.life.signs import all_sign_characters
from virl.towns.render.renderer import CityRenderer
from virl.towns.render.storefronts import SCHEMES, letter, texture_size
from virl.towns.render.textures import letter_chain, texture_table

SCRIPTS = {"Arabic": "مقهى السلام", "Hebrew": "מאפייה", "Devanagari": "हिन्दी किताब", "Thai": "ร้านน้ำชา"}
shaping = pytest.mark.skipif(not features.check("raqm"), reason="Pillow has no Raqm without FriBiDi")


def glyph(face: str, character: str) -> bytes:
    picture = Image.new("L", (96, 96))
    ImageDraw.Draw(picture).text((16, 8), character, font=font(face, 60), fill=255)
    return picture.tobytes()


@pytest.mark.parametrize("face", FACES)
def test_the_listed_characters_have_a_glyph_of_their_own(face):
    missing = glyph(face, "\U0010fffd")
    listed = sorted(code for code in code_points(face) if chr(code).isprintable() and code != ord(" "))
    rng = np.random.default_rng(0)
    for code in rng.choice(listed, 60, replace=False):
        assert glyph(face, chr(code)) != missing, chr(code)
    assert ord("\u1780") not in code_points(face)  # Khmer is in none
    assert glyph(face, "\u1780") == missing


@pytest.mark.parametrize("face", LATIN_FACES)
def test_latin_faces_have_the_letters_of_europe(face):
    assert {ord(c) for c in "AZaz09&'ÀÖØöøÿŁőŞž€"} <= code_points(face)


def test_the_cjk_face_has_kana_hangul_and_common_characters():
    wanted = "麵飯店館燒鮮魚銀行藥局理髮超市面馆烧药发まるカフェ寿司居酒屋카페서울식당미용실"
    assert {ord(c) for c in wanted} <= code_points(CJK_FACE)
    assert set(range(0x3041, 0x3097)) | set(range(0x30A1, 0x30FB)) <= code_points(CJK_FACE)


def test_every_character_that_a_sign_may_bear_can_be_drawn():
    for character in all_sign_characters():
        assert character == " " or ord(character) in code_points(face_for(character, 0))


def test_a_text_is_set_in_one_face_that_has_all_of_it():
    for text in ("Café Øst", "Καφέ", "Пекарня", "Phở Hà Nội", "牛記麵家", "Bar 酒"):
        face = face_for(text, 4)
        assert {ord(c) for c in text if c != " "} <= code_points(face)
    assert len({face_for("Bakery", variant) for variant in range(5)}) == 5


def test_what_no_face_can_draw_is_an_error_that_names_it():
    with pytest.raises(BadInput, match="no shipped font can draw 'ꦏ Shop': add ꦏ "):
        face_for("ꦏ Shop", 0)


@pytest.mark.slow
def test_a_sign_that_no_face_can_draw_is_blank_and_the_truth_says_so():
    sign = made_sign("ꦏ Shop", left=(-3.0, 8.0), right=(3.0, 8.0))
    assert not letter(sign).any()
    renderer = CityRenderer(bare_plan(made_shop(sign)))
    camera = Camera(0.0, 5.0, 60.0, 320, 320)
    (seen,) = renderer.visible(0.0, -1.0, camera)
    assert (seen.label, renderer.picture(0.0, -1.0, camera).shape) == ("", (320, 320, 3))


@shaping
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_sign_in_each_script_has_a_glyph_for_every_letter(script):
    text = SCRIPTS[script]
    face = face_for(text, 0)
    assert face == f"{script}-Bold.ttf"
    missing = glyph(face, "\U0010fffd")
    assert all(glyph(face, character) != missing for character in text if character != " ")
    assert letter(made_sign(text, left=(0.0, 0.0), right=(5.0, 0.0))).any()


@shaping
@pytest.mark.parametrize("text", ["سلام", "किताब", "हिन्दी", "น้ำ"])
def test_letters_join_and_stack(text):
    face = face_for(text, 0)
    alone = sum(font(face, 60).getlength(character) for character in text)
    assert face in SHAPED_FACES
    assert font(face, 60).getlength(text) != pytest.approx(alone, abs=1)


@shaping
def test_hebrew_reads_from_the_right():
    rows, columns = np.nonzero(letter(made_sign("לאאא", left=(0.0, 0.0), right=(5.0, 0.0))) > 128)
    assert (
        columns[rows == rows.max()].min() > columns.min() + np.ptp(columns) / 2
    )  # lamed, first, is the tallest


def luminance(rgb: tuple[float, float, float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_letters_stand_out_from_their_board(scheme):
    high, low = sorted((luminance(c) for c in scheme), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 3.0  # WCAG 2.2, large text


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("Golden Lotus Bakery", 6.0),
        ("The Old Harbour Light Fish Restaurant", 5.0),
        ("牛記麵家", 4.0),
        ("Bank", 1.2),
    ],
)
def test_letters_fill_their_board_and_stay_on_it(text, width):
    sign = made_sign(text, left=(0.0, 0.0), right=(width, 0.0), variant=3)
    drawn = letter(sign)
    assert drawn.shape == texture_size(sign)[::-1]
    rows, columns = np.nonzero(drawn > 128)
    height, wide = drawn.shape
    assert rows.min() > 0
    assert rows.max() < height - 1
    assert columns.min() > 0
    assert columns.max() < wide - 1
    assert np.ptp(columns) > 0.75 * wide or np.ptp(rows) > 0.55 * height


def test_letters_stand_upright_and_read_from_the_left():
    drawn = letter(made_sign("L", left=(0.0, 0.0), right=(1.0, 0.0)))
    rows, columns = np.nonzero(drawn > 128)
    foot = columns[rows < rows.min() + 4]  # row 0 is the bottom
    head = columns[rows > rows.max() - 4]
    assert np.ptp(foot) > 2 * np.ptp(head)
    assert head.max() < foot.max()


def test_a_mip_chain_has_the_size_that_the_table_says():
    sizes = [(100, 37), (8, 8), (512, 65)]
    table, total = texture_table(sizes)
    offsets = [*table[-3:, 1], total]
    for (width, height), begin, end in zip(sizes, offsets, offsets[1:], strict=False):
        assert len(letter_chain(np.zeros((height, width), np.uint8))) == end - begin


def test_a_sign_at_an_angle_keeps_more_contrast_than_its_size_alone_would_leave():
    """Anisotropic taps: an upright stroke seen at 70 degrees is still a stroke."""
    sign = made_sign("HIHIHI", left=(-3.0, 8.0), right=(3.0, 8.0), variant=15)
    renderer = CityRenderer(bare_plan(made_shop(sign)))
    camera = Camera(68.0, 2.0, 30.0, 640, 640)
    (seen,) = renderer.visible(-18.0, 0.0, camera)
    x0, y0, x1, y1 = (int(v) for v in seen.box)
    line = renderer.picture(-18.0, 0.0, camera)[(y0 + y1) // 2, x0:x1].mean(axis=1)
    assert line.max() - line.min() > 100
    strokes = np.count_nonzero(np.diff((line > (line.max() + line.min()) / 2).astype(int)) == 1)
    assert strokes >= 6


@pytest.mark.slow
@pytest.mark.parametrize("face", range(5))
def test_signs_are_read_across_the_street(face):
    from rapidocr import RapidOCR

    sign = made_sign("Golden Lotus Bakery", variant=face)
    picture = CityRenderer(bare_plan(made_shop(sign))).picture(0.0, -1.0, Camera(0.0, 5.0, 60.0, 640, 640))
    result = RapidOCR()(picture[..., ::-1].copy())
    assert "goldenlotusbakery" in "".join(result.txts).replace(" ", "").lower()
