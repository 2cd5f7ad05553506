from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from virl.errors import BadInput
from virl.platform.perception.base import Detection, LookScores
from virl.platform.perception.models import ModelOptions, Models, read_model
from virl.platform.perception.readers.rapidocr import GAP, cut_part, lay_out
from virl.platform.perception.readers.sign_reader import SignReaderSettings, SignsFirstReader
from virl.settings.model import load_settings

NOODLES = ("Golden Noodle House", [(40, 270), (300, 285), (300, 335), (40, 330)])
FARMACIA = ("Farmacia Centrale", [(380, 285), (610, 285), (610, 335), (380, 335)])
NOODLES_BOX, FARMACIA_BOX = (42.0, 268.0, 301.0, 336.0), (379.0, 286.0, 612.0, 334.0)


@dataclass
class PointedAt:
    """Finds signs where it is told to, and keeps what it was asked."""

    boxes: list[tuple[float, float, float, float]]
    score: float = 0.9
    asked: list[int] = field(default_factory=list)

    @property
    def look_scores(self):
        return LookScores(0.3, 0.4)

    def detect(self, views, labels):
        assert list(labels) == ["sign"]
        self.asked.append(len(views))
        return [[Detection("sign", self.score, box) for box in self.boxes] for _ in views]


@pytest.fixture
def settings():
    return read_model("reader", "sign-reader")


@pytest.mark.slow
def test_only_what_is_inside_the_boxes_is_read_where_it_stands(reader, draw_street):
    street = draw_street(NOODLES, FARMACIA)
    whole, half, none = reader.read_inside([street] * 3, [[NOODLES_BOX, FARMACIA_BOX], [FARMACIA_BOX], []])
    assert {line.text for line in whole} == {"Golden Noodle House", "Farmacia Centrale"}
    assert [line.text for line in half] == ["Farmacia Centrale"]
    assert none == []
    x0, y0, x1, y1 = half[0].box
    assert 370 < x0 < 420
    assert 570 < x1 < 625
    assert 275 < y0 < y1 < 345


def test_boxes_that_overlap_give_each_line_once(reader, draw_street):
    part = (150.0, 270.0, 301.0, 336.0)
    (lines,) = reader.read_inside([draw_street(NOODLES)], [[part, NOODLES_BOX, NOODLES_BOX]])
    assert [line.text for line in lines] == ["Golden Noodle House"]


def test_boxes_may_reach_beyond_the_picture_or_lie_outside(reader, draw_street):
    (lines,) = reader.read_inside(
        [draw_street(NOODLES)], [[(-30.0, 250.0, 320.0, 700.0), (700, 10, 800, 90)]]
    )
    assert [line.text for line in lines] == ["Golden Noodle House"]


def test_signs_are_found_and_then_read(reader, settings, draw_street):
    signs = SignsFirstReader(reader, PointedAt([FARMACIA_BOX]), settings)
    assert [line.text for line in signs.read([draw_street(NOODLES, FARMACIA)])[0]] == ["Farmacia Centrale"]


@pytest.mark.parametrize(
    ("box", "score"),
    [((380.0, 285.0, 610.0, 300.0), 0.9), (FARMACIA_BOX, 0.1)],
    ids=["too small", "too unsure"],
)
def test_what_is_too_small_or_too_unsure_is_not_read(reader, settings, draw_street, box, score):
    signs = SignsFirstReader(reader, PointedAt([box], score), settings)
    assert signs.read([draw_street(FARMACIA)]) == [[]]


def test_each_picture_is_looked_at_once_and_in_batches(reader, settings):
    a, b, c = (np.full((32, width, 3), 9, np.uint8) for width in (32, 33, 34))
    detector = PointedAt([])
    signs = SignsFirstReader(reader, detector, settings.model_copy(update={"batch": 2}))
    assert signs.read([a, b, a.copy(), c]) == [[]] * 4
    assert detector.asked == [2, 1]
    signs.read([c, a])
    assert detector.asked == [2, 1]
    forgetful = SignsFirstReader(reader, detector, settings.model_copy(update={"remember": 0}))
    forgetful.read([a])
    forgetful.read([a])
    assert detector.asked == [2, 1, 1, 1]


def test_pictures_that_no_camera_takes_have_no_signs(reader, settings):
    strips = [np.zeros((8, 640, 3), np.uint8), np.zeros((20, 2100, 3), np.uint8)]
    assert SignsFirstReader(reader, PointedAt([(0.0, 0.0, 90.0, 30.0)]), settings).read(strips) == [[], []]


def test_whole_views_are_read_where_virl_does_not_draw_them(virlton):
    models = Models()
    assert models.reader("sign-reader") is models.reader("rapidocr")
    drawn = Models(ModelOptions(truth=virlton.truth))
    assert isinstance(drawn.reader("sign-reader"), SignsFirstReader)


def test_a_reader_of_whole_pictures_alone_is_refused(tmp_path, virlton, settings):
    mine = tmp_path / "mine.yaml"
    rows = settings.model_dump(mode="json", exclude={"resources", "paper", "measured"})
    rows["reader"] = "paddleocr"
    mine.write_text("".join(f"{key}: {value}\n" for key, value in rows.items()))
    assert load_settings(mine, SignReaderSettings).reader == "paddleocr"
    with pytest.raises(BadInput, match="'paddleocr' cannot read inside boxes: use another"):
        Models(ModelOptions(truth=virlton.truth)).reader(str(mine))


def test_parts_keep_apart_on_sheets_and_are_found_again():
    picture = np.zeros((640, 640, 3), np.uint8)
    boxes = [(10.0 * i, 20.0 * i, 10.0 * i + 60 + 7 * i, 20.0 * i + 40) for i in range(25)]
    parts = [part for box in boxes if (part := cut_part(0, picture, box, side=32, least=0.5, margin=0.2))]
    sheets = list(lay_out(replace(part, picture=i % 3) for i in range(9) for part in parts))
    assert sum(len(sheet.placed) for sheet in sheets) == 9 * len(parts)
    assert len(sheets) > 1
    for sheet in sheets:
        height, width = sheet.pixels.shape[:2]
        assert height % 32 == width % 32 == 0
        taken = np.zeros((height + GAP, width + GAP), int)
        for part, left, top in sheet.placed:
            wide, high = part.size
            assert left + wide <= width
            assert top + high <= height
            taken[top : top + high + GAP, left : left + wide + GAP] += 1
            assert sheet.at(left + wide / 2, top + high / 2) == (part, left, top)
        assert taken.max() == 1
