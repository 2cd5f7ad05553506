import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.errors import BadInput, ModelUnavailable
from virl.platform.perception.contrastive import (
    ContrastiveRecognizer,
    ContrastiveSettings,
    fingerprint,
    identity,
)
from virl.platform.perception.models import Models, model_file, model_names, read_model
from virl.platform.perception.recognizers.openclip import OpenClipSettings
from virl.settings.model import load_settings

CORNERS = {"red": (1.0, 0.0, 0.0), "green": (0.0, 1.0, 0.0), "yellow": (1.0, 1.0, 0.0)}


class Colours:
    """Embeds pictures as mean colours, and texts as the colour that they name."""

    def __init__(self, scale=10.0, bias=None):
        self.scale, self.bias = scale, bias
        self.read, self.batches = [], []

    def images(self, images):
        self.batches.append(len(images))
        return np.array([image.reshape(-1, 3).mean(axis=0) for image in images], np.float32)

    def texts(self, texts):
        self.read.append(list(texts))
        return np.array([CORNERS.get(text.split()[-1], (0, 0, 1)) for text in texts], np.float32)


def recognizer(towers, **fields):
    return ContrastiveRecognizer(
        lambda: "colours", lambda: towers, ContrastiveSettings(kind="colours", **fields)
    )


def picture(*colour):
    return np.full((4, 6, 3), colour, np.uint8)


RED, GREEN = picture(200, 0, 0), picture(0, 90, 0)


def test_a_softmax_model_shares_one_out_over_the_labels():
    scores = recognizer(Colours()).recognize([RED, GREEN], ["red", "green"])
    high, low = 1 / (1 + np.exp(-10)), 1 / (1 + np.exp(10))
    assert scores == pytest.approx(np.array([[high, low], [low, high]]))
    assert scores.dtype == np.float32


def test_a_sigmoid_model_judges_each_label_alone():
    scores = recognizer(Colours(scale=4.0, bias=-1.0)).recognize([RED], ["red", "green", "yellow"])
    logits = np.array([[4.0, 0.0, 4.0 * np.sqrt(0.5)]]) - 1.0
    assert scores == pytest.approx(1 / (1 + np.exp(-logits)))


@given(st.floats(0, 150), st.sampled_from([None, -20.0, 0.0, 5.0]), st.integers(1, 5), st.integers(0, 9999))
def test_scores_are_shares(scale, bias, labels, seed):
    rng = np.random.default_rng(seed)
    images = [picture(*rng.integers(1, 256, 3)) for _ in range(3)]
    scores = recognizer(Colours(scale, bias)).recognize(images, [f"{i} red" for i in range(labels)])
    assert scores.shape == (3, labels)
    assert ((scores >= 0) & (scores <= 1)).all()
    if bias is None:
        assert scores.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-5)


def test_pictures_go_through_in_batches_and_captions_once():
    towers = Colours()
    colours = recognizer(towers, batch=4, caption="a sign in {label}")
    for _ in range(2):
        colours.recognize([RED] * 10, ["dark_red", "green", "dark red"])
    assert towers.batches == [4, 4, 2] * 2
    assert towers.read == [["a sign in dark red", "a sign in green"]]


def test_bad_input_is_refused_before_anything_is_loaded():
    def load():
        raise AssertionError("loaded")

    colours = ContrastiveRecognizer(lambda: "colours", load, ContrastiveSettings(kind="colours"))
    for images, labels in (([RED], []), ([RED], ["red", ""]), ([RED[:0]], ["red"]), (["red.jpg"], ["red"])):
        with pytest.raises(BadInput):
            colours.recognize(images, labels)
    with pytest.raises(BadInput):
        colours.embed_images([RED.astype(np.float32)])


def test_a_caption_needs_a_place_for_the_label(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "kind: openclip\narchitecture: ViT-B-32\ntag: openai\ncaption: a photo\n", encoding="utf-8"
    )
    with pytest.raises(BadInput, match=r"mine\.yaml, line 4: caption: must contain \{label\}"):
        read_model("recognizer", str(file))


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "needs weights"), ("weights: a/b\ntag: openai\n", "a tag needs its architecture")],
)
def test_a_model_file_says_enough(tmp_path, text, words):
    file = tmp_path / "mine.yaml"
    file.write_text(f"kind: openclip\n{text}", encoding="utf-8")
    with pytest.raises(BadInput, match=words):
        load_settings(file, OpenClipSettings)


def test_every_model_file_opens_and_names_itself():
    names = model_names("recognizer")
    assert {"clip-bigg", "clip-vit-b-32", "eva02-clip", "siglip", "siglip2"} <= set(names)
    models = Models()
    assert len({models.recognizer(name).name for name in names}) == len(names)
    assert models.recognizer("clip-bigg").name == "ViT-bigG-14/laion2b_s39b_b160k"
    for name in names:
        settings, text = read_model("recognizer", name), model_file(name).read_text(encoding="utf-8")
        (weights,) = settings.needs().weights
        assert f"https://huggingface.co/{weights}" in text
        assert f"models/{weights}" in text.replace("\n# ", " ")
        assert "licence" in text or "Apache" in text


@pytest.mark.slow
@pytest.mark.parametrize(("name", "package"), [("clip-vit-b-32", "open_clip"), ("siglip2", "transformers")])
def test_a_missing_extra_is_named(name, package, tmp_path, monkeypatch):
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    code = (
        f"import sys; sys.modules['torch'] = sys.modules['{package}'] = None\n"
        "from virl.errors import ModelUnavailable\n"
        "from virl.platform.perception.models import Models\n"
        f"try: Models().recognizer('{name}').embed_texts(['x'])\n"
        "except ModelUnavailable as fault: print(fault)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "pip install 'virl[vision]'" in done.stdout
    assert done.stdout.count("\n") == 1


@pytest.mark.slow
def test_opening_imports_no_torch():
    code = (
        "import sys\n"
        "from virl.platform.perception.models import Models\n"
        "[Models().recognizer(name).name for name in ('clip-vit-b-32', 'siglip2')]\n"
        "assert not {'torch', 'open_clip', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_loader_that_fails_is_tried_again():
    tries = []

    def load():
        tries.append(1)
        if len(tries) == 1:
            raise ModelUnavailable("not yet")
        return Colours()

    colours = ContrastiveRecognizer(lambda: "colours", load, ContrastiveSettings(kind="colours"))
    with pytest.raises(ModelUnavailable, match="not yet"):
        colours.embed_texts(["red"])
    assert colours.embed_texts(["red"]).shape == (1, 3)
    assert len(tries) == 2


def test_a_checkpoint_is_told_by_what_it_holds(tmp_path):
    folder, file = tmp_path / "clip", tmp_path / "clip.bin"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "weights").write_bytes(b"\0" * 100)
    file.write_bytes(b"\0" * 100)
    assert identity(str(folder)) == f"clip-{fingerprint(folder)}"
    assert identity("google/siglip2-base-patch16-224") == "google/siglip2-base-patch16-224"
    before, file_before = fingerprint(folder), fingerprint(file)
    assert file.rename(tmp_path / "other.bin")
    assert fingerprint(tmp_path / "other.bin") == file_before
    (folder / "weights").write_bytes(b"\0" * 99 + b"1")
    assert fingerprint(folder) != before


def test_a_large_checkpoint_is_told_by_samples(tmp_path):
    file = tmp_path / "large"
    seen = set()
    size = 20 * 2**20
    for changed in (None, 0, size // 2, size - 1):
        content = bytearray(size)
        if changed is not None:
            start = changed // 2**18 * 2**18  # a fine-tuned layer: a quarter of a MiB or more
            content[start : start + 2**19] = b"1" * len(content[start : start + 2**19])
        file.write_bytes(content)
        seen.add(fingerprint(file))
    assert len(seen) == 4
