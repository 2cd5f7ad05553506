import socket
import sys

import numpy as np
import pytest

from virl.errors import ModelUnavailable
from virl.platform.perception.readers.rapidocr import RapidOcrReader, _load

NOODLES = ("Golden Noodle House", [(40, 270), (300, 285), (300, 335), (40, 330)])
FARMACIA = ("Farmacia Centrale", [(380, 285), (610, 285), (610, 335), (380, 335)])


@pytest.mark.slow
def test_lines_are_read_where_they_stand(reader, draw_street):
    (lines,) = reader.read([draw_street(NOODLES, FARMACIA)])
    assert {line.text for line in lines} == {"Golden Noodle House", "Farmacia Centrale"}
    for line in lines:
        corners = np.array((NOODLES if line.text.startswith("Golden") else FARMACIA)[1])
        x0, y0, x1, y1 = line.box
        assert np.all(corners.min(axis=0) - 6 <= (x0, y0))
        assert np.all(corners.max(axis=0) + 6 >= (x1, y1))
        assert x1 - x0 > 0.7 * np.ptp(corners[:, 0])
        assert line.score > 0.8


def test_boxes_are_in_pixels_of_a_picture_of_any_size(reader, draw_street):
    corners = [(610, 60), (880, 60), (880, 110), (610, 110)]
    (lines,) = reader.read([draw_street(("Blue Door Books", corners), size=(900, 130))])
    assert [line.text for line in lines] == ["Blue Door Books"]
    x0, y0, x1, y1 = lines[0].box
    assert x0 > 600
    assert x1 < 890
    assert y0 > 50
    assert y1 < 120


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(16, 16, 3), (1, 40, 3), (40, 700, 3)])
def test_pictures_without_text_have_no_lines(reader, shape):
    assert reader.read([np.full(shape, 128, np.uint8)]) == [[]]


def test_grey_text_on_grey_is_read(reader, draw_street):
    street = draw_street(NOODLES)
    grey = np.repeat(street.mean(axis=2, keepdims=True).astype(np.uint8), 3, axis=2)
    (lines,) = reader.read([grey])
    assert [line.text for line in lines] == ["Golden Noodle House"]


def test_a_picture_seen_lately_is_not_read_again(reader_settings, draw_street, monkeypatch):
    reader = RapidOcrReader(reader_settings.model_copy(update={"remember": 2}))
    read: list[tuple[int, ...]] = []
    monkeypatch.setattr(reader, "_read", lambda image: read.append(image.shape) or [])
    a, b, c = (np.full((32, width, 3), 9, np.uint8) for width in (32, 33, 34))
    reader.read([a, b, a.copy(), c])  # b is now the one looked at longest ago
    assert len(read) == 3
    reader.read([a, c])
    assert len(read) == 3
    reader.read([b])
    assert len(read) == 4


@pytest.mark.slow
def test_a_list_handed_out_is_not_the_one_remembered(reader, draw_street):
    street = draw_street(NOODLES)
    reader.read([street])[0].clear()
    assert reader.read([street])[0]


@pytest.mark.slow
def test_loading_asks_no_network_and_says_nothing(reader_settings, draw_street, monkeypatch, capfd):
    def refuse(*_):
        raise AssertionError("the reader went to the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    (lines,) = RapidOcrReader(reader_settings).read([draw_street(NOODLES)])
    assert lines
    assert capfd.readouterr() == ("", "")


def test_without_the_package_the_remedy_is_named(reader_settings, monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'virl\[eyes\]'"):
        RapidOcrReader(reader_settings).read([np.zeros((64, 64, 3), np.uint8)])


def test_without_the_weights_the_file_is_named(reader_settings, monkeypatch, tmp_path):
    import rapidocr

    monkeypatch.setattr(rapidocr, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(ModelUnavailable, match=r"det_small\.onnx is missing"):
        RapidOcrReader(reader_settings).read([np.zeros((64, 64, 3), np.uint8)])


def test_nothing_is_loaded_for_no_pictures(reader_settings, monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    assert RapidOcrReader(reader_settings).read([]) == []


@pytest.mark.parametrize(("said", "threads"), [("1", 1), ("3", 3), ("", 0), ("0", 0), ("2,1", 0)])
def test_it_takes_as_many_threads_as_the_environment_allows(reader_settings, monkeypatch, said, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert {one.intra_op_num_threads for one in _session_options(reader_settings)} == {threads}
    two = reader_settings.model_copy(update={"threads": 2})
    assert {one.intra_op_num_threads for one in _session_options(two)} == {2}


def test_threads_sleep_while_they_wait(reader_settings):
    for options in _session_options(reader_settings):
        assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


def _session_options(settings):
    """Return the options of both networks of an engine."""
    engine = _load(settings)
    return [engine.cfg[part].session.get_session_options() for part in ("Det", "Rec")]
