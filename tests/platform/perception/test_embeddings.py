import logging
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virl.errors import BadInput, CannotWrite, NoImagery
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.embeddings import (
    TextMemory,
    ViewEmbedder,
    camera_key,
    open_store,
    read_arrays,
    write_arrays,
)

CAMERA = Camera(90.0, fov=60.0, width=80, height=46)


def cameras(*headings):
    return [Camera(heading, fov=60.0, width=80, height=46) for heading in headings]


class Street:
    """Pictures that differ with panorama and heading; counts those asked for."""

    def __init__(self):
        self.asked = []

    def view(self, pano_id, camera):
        if pano_id == "nowhere":
            raise NoImagery("no picture of nowhere")
        self.asked.append((pano_id, camera.heading))
        colour = [camera.heading / 2 % 256, 128, hash_of(pano_id)]
        return View(pano_id, camera, np.full((camera.height, camera.width, 3), colour, np.uint8))


def hash_of(pano_id):
    return sum(pano_id.encode()) % 256


class Mean:
    """Embeds a picture as the direction of its mean colour; remembers how many came at once."""

    def __init__(self):
        self.batches = []

    def embed_images(self, images):
        self.batches.append(len(images))
        rows = np.array([image.reshape(-1, 3).mean(axis=0) for image in images]).reshape(-1, 3)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def embedder(folder, model="mean/1", source="here"):
    return ViewEmbedder(Street(), Mean(), open_store(source, model, folder))


def test_each_view_is_seen_and_embedded_once(tmp_path):
    first = embedder(tmp_path)
    rows = first.embed("a", cameras(0, 45, 90))
    assert first.encoder.batches == [3]
    assert first.embed("a", cameras(90, 0)) == pytest.approx(rows[[2, 0]], abs=0)
    assert first.encoder.batches == [3]
    assert len(first.streetview.asked) == 3
    later = embedder(tmp_path)
    again = later.embed("a", cameras(135, 45, 135, 405, 180))
    assert later.streetview.asked == [("a", 135), ("a", 180)]
    assert later.encoder.batches == [2]
    without = ViewEmbedder(Street(), Mean()).embed("a", cameras(135, 45, 135, 45, 180))
    assert np.array_equal(again, without)
    assert later.embed("a", []).shape == (0, 3)


def test_panoramas_models_sources_and_cameras_are_kept_apart(tmp_path):
    embedder(tmp_path).embed("a", [CAMERA])
    for other, pano_id, camera in (
        (embedder(tmp_path), "b", CAMERA),
        (embedder(tmp_path, model="mean/2"), "a", CAMERA),
        (embedder(tmp_path, source="there"), "a", CAMERA),
        (embedder(tmp_path), "a", Camera(90.0, 1.0, 60.0, 80, 46)),
        (embedder(tmp_path), "a", Camera(90.0, 0.0, 61.0, 80, 46)),
        (embedder(tmp_path), "a", Camera(90.0, 0.0, 60.0, 81, 46)),
        (embedder(tmp_path), "a", Camera(90.0, 0.0, 60.0, 80, 47)),
    ):
        other.embed(pano_id, [camera])
        assert len(other.streetview.asked) == 1
    known = embedder(tmp_path)
    known.embed("a", [Camera(90.0000001, -1e-9, 60.0, 80, 46)])
    assert not known.streetview.asked


@pytest.mark.parametrize("pano_id", ["../../up", "a/b", "F:-wmo_3=x", "é" * 200, "", "CON", "a\0b"])
def test_any_id_is_kept_below_the_folder(tmp_path, pano_id):
    folder = tmp_path / "kept"
    rows = embedder(folder).embed(pano_id, [CAMERA])
    back = embedder(folder)
    assert np.array_equal(back.embed(pano_id, [CAMERA]), rows)
    assert not back.streetview.asked
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept"]


@given(st.floats(-720, 720), st.integers(-2, 2))
def test_whole_turns_are_the_same_camera(heading, turns):
    assert camera_key(Camera(heading)) == camera_key(Camera(round(heading, 3) + 360 * turns))
    assert 0 <= camera_key(Camera(heading))[0] < 360


def files(folder, suffix=".npz"):
    return sorted(folder.rglob(f"*{suffix}"))


VIEW, OTHER = "view".encode("utf-32-le"), "move".encode("utf-32-le")


@pytest.mark.parametrize("content", [b"", b"not an archive", b"\x80\x04N.", "half", "other"])
def test_a_damaged_file_is_set_aside_and_made_again(tmp_path, caplog, content):
    rows = embedder(tmp_path).embed("a", cameras(0, 45))
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    damaged = {"half": whole[: len(whole) // 2], "other": whole.replace(VIEW, OTHER)}
    file.write_bytes(damaged.get(content, content))
    again = embedder(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(again.embed("a", cameras(0, 45)), rows)
    assert len(again.streetview.asked) == 2
    assert "set aside" in caplog.text
    assert str(file) in caplog.text
    assert len(files(tmp_path, ".damaged")) == 1
    caplog.clear()
    assert np.array_equal(embedder(tmp_path).embed("a", cameras(0, 45)), rows)
    assert not caplog.text


@pytest.mark.parametrize(
    "changes",
    [
        {"embeddings": np.full((2, 3), np.nan, np.float32)},
        {"embeddings": np.ones((2, 3), np.float32)},
        {"embeddings": np.eye(3, dtype=np.float32)},
        {"embeddings": np.eye(3)[:2]},
        {"cameras": np.zeros((2, 4))},
        {"cameras": np.array([{}, {}], dtype=object)},
    ],
)
def test_rows_that_do_not_fit_are_set_aside(tmp_path, changes):
    rows = embedder(tmp_path).embed("a", cameras(0, 45))
    (file,) = files(tmp_path)
    with np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    np.savez(file, **(arrays | changes))
    assert np.array_equal(embedder(tmp_path).embed("a", cameras(0, 45)), rows)
    assert len(files(tmp_path, ".damaged")) == 1


@given(st.data())
@settings(max_examples=60)
def test_no_change_of_bytes_gives_other_rows(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("bytes")
    rows = embedder(folder).embed("a", cameras(0, 45))
    (file,) = files(folder)
    content = bytearray(file.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=3)):
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    file.write_bytes(
        content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content
    )
    assert np.array_equal(embedder(folder).embed("a", cameras(0, 45)), rows)


def test_a_view_that_cannot_be_had_leaves_nothing(tmp_path):
    with pytest.raises(NoImagery):
        embedder(tmp_path).embed("nowhere", [CAMERA])
    assert not files(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CannotWrite, match="cannot write"):
        embedder(tmp_path / "file").embed("a", [CAMERA])


def work(folder, seed):
    """What each of several processes does at the same time."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        embedder(folder).embed("a", cameras(*rng.choice(8, 3, replace=False) * 45))


@pytest.mark.slow
def test_processes_share_a_store(tmp_path):
    command = [sys.executable, __file__, str(tmp_path)]
    for process in [subprocess.Popen([*command, str(seed)]) for seed in range(2)]:
        assert process.wait() == 0
    after = embedder(tmp_path)
    rows = after.embed("a", cameras(*range(0, 360, 45)))
    assert not after.streetview.asked
    assert np.array_equal(rows, ViewEmbedder(Street(), Mean()).embed("a", cameras(*range(0, 360, 45))))
    assert not files(tmp_path, ".part")
    assert not files(tmp_path, ".damaged")


def test_a_kill_while_writing_leaves_the_store_whole(tmp_path):
    code = (
        "import sys, os, numpy as np\n"
        "from pathlib import Path\n"
        "from virl.platform.perception.embeddings import open_store\n"
        "np.savez = lambda stream, **arrays: (stream.write(b'PK half'), stream.flush(), os._exit(9))\n"
        "open_store('here', 'mean/1', Path(sys.argv[1])).keep('a', {(0., 0., 60., 80., 46.): np.ones(1)})\n"
    )
    embedder(tmp_path).embed("a", cameras(90))
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 9
    after = embedder(tmp_path)
    after.embed("a", cameras(0, 90))
    assert after.streetview.asked == [("a", 0)]
    assert not files(tmp_path, ".damaged")


def test_an_array_file_is_replaced_whole(tmp_path, monkeypatch):
    file = tmp_path / "a.npz"
    write_arrays(file, "kind", 1, "m", {"x": np.arange(3)})

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", full)
        with pytest.raises(CannotWrite, match="No space left"):
            write_arrays(file, "kind", 1, "m", {"x": np.arange(4)})
    assert len(read_arrays(file, "kind", 1, "m", ("x",))[0]["x"]) == 3
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.npz"]
    with file.open("rb") as reader:
        write_arrays(file, "kind", 1, "m", {"x": np.arange(4)})
        with np.load(reader) as before:
            assert len(before["x"]) == 3  # who was reading still has the old file
    assert len(read_arrays(file, "kind", 1, "m", ("x",))[0]["x"]) == 4


class Letters:
    """Embeds a text by its length; remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def embed_texts(self, texts):
        self.asked.append(list(texts))
        angles = np.array([len(text) for text in texts], float)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_texts_are_embedded_once():
    letters = Letters()
    memory = TextMemory(letters)
    rows = memory.embed_texts(["aa", "b", "aa"])
    assert np.array_equal(rows, Letters().embed_texts(["aa", "b", "aa"]))
    assert np.array_equal(memory.embed_texts(["b", "ccc"]), Letters().embed_texts(["b", "ccc"]))
    assert letters.asked == [["aa", "b"], ["ccc"]]
    assert memory.embed_texts([]).shape == (0, 2)


def test_texts_long_not_asked_for_are_forgotten():
    letters = Letters()
    memory = TextMemory(letters, limit=2)
    for text in ("a", "bb", "a", "ccc", "a", "bb"):
        memory.embed_texts([text])
    assert letters.asked == [["a"], ["bb"], ["ccc"], ["bb"]]
    many = [letter * 2 for letter in "abcde"]
    assert memory.embed_texts(many).shape == (5, 2)


def test_threads_share_texts():
    letters = Letters()
    memory = TextMemory(letters)
    threads = [threading.Thread(target=memory.embed_texts, args=(["a", "bb"],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert letters.asked == [["a", "bb"]]


if __name__ == "__main__":
    work(Path(sys.argv[1]), int(sys.argv[2]))


def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path):
    file = tmp_path / "bomb.npz"
    labels = {name: np.array(text) for name, text in (("kind", "kind"), ("version", "1"), ("model", "m"))}
    np.savez_compressed(file, **labels, x=np.zeros(3_000_000))
    with pytest.raises(BadInput, match="unpacks to more than 100 times its size"):
        read_arrays(file, "kind", 1, "m", ("x",))
