"""OpenCLIP itself, with tiny random checkpoints that are saved and loaded from disk."""

import json
import shutil
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra vision")
open_clip = pytest.importorskip("open_clip", reason="needs the extra vision")

from virl.errors import BadInput, ModelUnavailable, UnknownName  # noqa: E402
from virl.platform.perception.models import ModelOptions, Models  # noqa: E402
from virl.platform.perception.recognizers.openclip import OpenClipSettings, open_openclip  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::FutureWarning")

CLIP = {
    "embed_dim": 24,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {"context_length": 20, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
}
SIGLIP = CLIP | {"init_logit_bias": -2.0, "init_logit_scale": float(np.log(4.0)), "custom_text": True}
EVA = CLIP | {
    "vision_cfg": {
        "timm_model_name": "eva02_tiny_patch14_224",
        "timm_model_pretrained": False,
        "timm_pool": "token",
        "timm_proj": "linear",
        "image_size": 224,
    },
    "custom_text": True,
}
PREPARED = {
    "mean": [0.4, 0.4, 0.4],
    "std": [0.2, 0.2, 0.2],
    "interpolation": "bilinear",
    "resize_mode": "squash",
}


def save(folder, config, seed=0):
    """What OpenCLIP saves: a folder with its configuration and weights. Biases are random too."""
    folder.mkdir(parents=True)
    (folder / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": config, "preprocess_cfg": PREPARED}), encoding="utf-8"
    )
    torch.manual_seed(seed)
    model = open_clip.create_model(f"local-dir:{folder}", load_weights=False)
    torch.save(model.state_dict(), folder / "open_clip_pytorch_model.bin")
    return folder


@pytest.fixture(scope="module", autouse=True)
def architectures(tmp_path_factory):
    """Two small architectures that OpenCLIP lists beside its own."""
    folder = tmp_path_factory.mktemp("architectures")
    for name, config in (("virl-tiny", CLIP), ("virl-small", CLIP | {"embed_dim": 48})):
        (folder / f"{name}.json").write_text(json.dumps(config), encoding="utf-8")
        open_clip.add_model_config(folder / f"{name}.json")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("openclip")
    return {
        name: save(root / name, config) for name, config in (("clip", CLIP), ("siglip", SIGLIP), ("eva", EVA))
    }


def recognizer(weights, batch=8, **fields):
    settings = OpenClipSettings(kind="openclip", weights=str(weights), batch=batch, **fields)
    return open_openclip(settings, Models(ModelOptions(device="cpu")))


def pictures(count, seed=0, size=(40, 52)):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for _ in range(count)]


@pytest.mark.parametrize("name", ["clip", "siglip", "eva"])
def test_rows_are_those_of_openclip_itself(folders, name):
    clip, images, texts = recognizer(folders[name]), pictures(3), ["a red door", "a bench", "two lions"]
    model, _, prepare = open_clip.create_model_and_transforms(f"local-dir:{folders[name]}")
    tokens = open_clip.get_tokenizer(f"local-dir:{folders[name]}")(texts)
    from PIL import Image

    with torch.inference_mode():
        model.eval()
        batch = torch.stack([prepare(Image.fromarray(image)) for image in images])
        seen, told = model.encode_image(batch, normalize=True), model.encode_text(tokens, normalize=True)
        logits = (model.logit_scale.exp() * seen @ told.T).double()
    assert clip.embed_images(images) == pytest.approx(seen.numpy(), abs=1e-6)
    assert clip.embed_texts(texts) == pytest.approx(told.numpy(), abs=1e-6)
    captioned = recognizer(folders[name], caption="{label}").recognize(images, texts)
    expected = torch.sigmoid(logits - 2.0) if name == "siglip" else torch.softmax(logits, dim=1)
    assert captioned == pytest.approx(expected.numpy(), abs=1e-5)


@pytest.mark.parametrize("name", ["clip", "siglip", "eva"])
def test_batches_give_what_one_by_one_gives(folders, name):
    images, texts = pictures(5), ["a red door", "a bench", "a", "one of two stone lions at the gate", "b"]
    together, alone = recognizer(folders[name], batch=3), recognizer(folders[name], batch=1)
    for rows, singly in (
        (together.embed_images(images), alone.embed_images(images)),
        (together.embed_texts(texts), alone.embed_texts(texts)),
    ):
        assert rows.dtype == np.float32
        assert rows.shape == (5, 24)
        assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
        assert rows == pytest.approx(singly, abs=1e-5)
        assert np.linalg.matrix_rank(rows) == 5  # different things, different rows
    assert np.array_equal(together.embed_images(images), together.embed_images(images))


@pytest.mark.parametrize(("name", "sums_to_one"), [("clip", True), ("eva", True), ("siglip", False)])
def test_scores_over_labels(folders, name, sums_to_one):
    clip, images, labels = recognizer(folders[name]), pictures(4), ["cafe", "trash_bin", "bank"]
    scores = clip.recognize(images, labels)
    assert scores.shape == (4, 3)
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    assert (np.abs(scores.sum(axis=1) - 1) < 1e-5).all() == sums_to_one
    turned = clip.recognize(images, labels[::-1])
    assert turned[:, ::-1] == pytest.approx(scores, abs=1e-6)
    alone = clip.recognize(images, ["bank"])
    assert alone == pytest.approx(np.ones((4, 1)) if sums_to_one else scores[:, 2:], abs=1e-6)
    assert clip.recognize(images, ["cafe", "trash bin", "bank"]) == pytest.approx(scores, abs=1e-6)
    assert clip.recognize([], labels).shape == (0, 3)
    assert clip.embed_images([]).shape == clip.embed_texts([]).shape == (0, 24)


def test_grayscale_and_transparent_pictures_count_as_colour(folders):
    clip, (image,) = recognizer(folders["clip"]), pictures(1)
    gray = image[..., 0]
    opaque = np.dstack([image, np.full(image.shape[:2], 255, np.uint8)])
    rows = clip.embed_images([np.dstack([gray] * 3), gray, gray[..., None], image, opaque])
    assert rows[1] == pytest.approx(rows[0], abs=1e-6)
    assert rows[2] == pytest.approx(rows[0], abs=1e-6)
    assert rows[4] == pytest.approx(rows[3], abs=1e-6)
    with pytest.raises(BadInput, match="no pixels"):
        clip.embed_images([image, image[:0]])
    with pytest.raises(BadInput, match="no labels"):
        clip.recognize([image], [])
    with pytest.raises(BadInput, match="label 2 of 2 is blank"):
        clip.recognize([image], ["cafe", " _"])


def test_a_file_of_weights_needs_its_architecture(folders, tmp_path):
    file = shutil.copy(folders["clip"] / "open_clip_pytorch_model.bin", tmp_path / "mine.bin")
    own = recognizer(file, architecture="virl-tiny")
    texts = ["a red door", "a bench"]
    assert own.embed_texts(texts) == pytest.approx(recognizer(folders["clip"]).embed_texts(texts), abs=1e-6)
    assert own.name.startswith("virl-tiny/mine.bin-")
    with pytest.raises(BadInput, match="give the architecture"):
        recognizer(file).embed_texts(texts)
    with pytest.raises(
        ModelUnavailable, match=r"mine\.bin is not a checkpoint that OpenCLIP can load as virl-small"
    ) as no:
        recognizer(file, architecture="virl-small").embed_texts(texts)
    assert "\n" not in str(no.value)
    with pytest.raises(UnknownName, match=r"architecture 'ViT-B-23'.*ViT-B-32"):
        recognizer(file, architecture="ViT-B-23").embed_texts(texts)
    with pytest.raises(UnknownName, match=r"tag of ViT-B-32 'nothing'.*openai"):
        recognizer(file, architecture="ViT-B-32", tag="nothing").embed_texts(texts)


def test_a_tag_says_how_its_weights_want_to_be_used(folders, tmp_path, monkeypatch):
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    known = PREPARED | {"quick_gelu": True, "hf_hub": "virl/tiny-weights/"}
    monkeypatch.setitem(open_clip.pretrained._PRETRAINED, "virl-tiny", {"mine": known})
    home = tmp_path / "models" / "virl" / "tiny-weights"  # as the hub's cache has it: the weights alone
    home.mkdir(parents=True)
    shutil.copy(folders["clip"] / "open_clip_pytorch_model.bin", home)
    tagged = recognizer("", architecture="virl-tiny", tag="mine")
    assert tagged.name == "virl-tiny/mine"
    folder = shutil.copytree(folders["clip"], tmp_path / "quick")
    config = {"model_cfg": CLIP | {"quick_gelu": True}, "preprocess_cfg": PREPARED}
    (folder / "open_clip_config.json").write_text(json.dumps(config), encoding="utf-8")
    images = pictures(2)
    assert tagged.embed_images(images) == pytest.approx(recognizer(folder).embed_images(images), abs=1e-6)
    plain = recognizer(home / "open_clip_pytorch_model.bin", architecture="virl-tiny")
    assert np.abs(tagged.embed_images(images) - plain.embed_images(images)).max() > 1e-3


@pytest.mark.parametrize("content", [b"", b"nothing that torch saved", b"PK\x03\x04 cut off"])
def test_a_file_that_holds_no_weights_is_named(tmp_path, content):
    file = tmp_path / "broken.bin"
    file.write_bytes(content)
    with pytest.raises(ModelUnavailable, match=r"broken\.bin is not a checkpoint") as caught:
        recognizer(file, architecture="virl-tiny").embed_texts(["x"])
    assert "\n" not in str(caught.value)


def test_a_pickle_is_not_run(tmp_path):
    import pickle

    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    (tmp_path / "trap.bin").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelUnavailable, match=r"trap\.bin"):
        recognizer(tmp_path / "trap.bin", architecture="virl-tiny").embed_texts(["x"])
    assert not (tmp_path / "sprung").exists()


def test_what_would_be_fetched_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    settings = OpenClipSettings(kind="openclip", architecture="ViT-B-32", tag="laion2b_s34b_b79k")
    with pytest.raises(ModelUnavailable, match=r"laion/CLIP-ViT-B-32-laion2B-s34B-b79K.*--allow-downloads"):
        open_openclip(settings, Models()).embed_texts(["x"])
    folder = save(tmp_path / "roberta", CLIP)
    config = {"model_cfg": CLIP | {"text_cfg": {"hf_model_name": "roberta-base"}}}
    (folder / "open_clip_config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelUnavailable, match="text tower is roberta-base"):
        recognizer(folder).embed_texts(["x"])
    (folder / "open_clip_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadInput, match="not an OpenCLIP configuration"):
        recognizer(folder).embed_texts(["x"])
    (folder / "open_clip_config.json").unlink()
    (folder / "open_clip_pytorch_model.bin").unlink()
    with pytest.raises(ModelUnavailable, match="contains none of open_clip_model"):
        recognizer(folder, architecture="ViT-B-32").embed_texts(["x"])
    file = tmp_path / "siglip.bin"
    file.touch()
    with pytest.raises(
        ModelUnavailable, match=r"needs the tokenizer timm/ViT-B-16-SigLIP: give the whole folder"
    ):
        recognizer(file, architecture="ViT-B-16-SigLIP").embed_texts(["x"])


def test_weights_are_loaded_once_for_all_threads_and_openers(folders, tmp_path, monkeypatch):
    folder = shutil.copytree(folders["clip"], tmp_path / "shared")
    loads, true_load = [], open_clip.create_model_and_transforms

    def counting(*arguments, **named):
        loads.append(arguments)
        return true_load(*arguments, **named)

    monkeypatch.setattr(open_clip, "create_model_and_transforms", counting)
    both = [recognizer(folder), recognizer(folder, batch=2)]
    assert not loads
    rows = []
    threads = [
        threading.Thread(target=lambda clip=clip: rows.append(clip.embed_texts(["a bench"])))
        for clip in both * 3
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(rows) == 6
    assert all(np.array_equal(row, rows[0]) for row in rows)


def test_names_tell_weights_apart(folders, tmp_path):
    other = save(tmp_path / "clip", CLIP, seed=1)
    assert recognizer(other).name != recognizer(folders["clip"]).name
    assert (
        recognizer(folders["clip"]).name
        == recognizer(shutil.copytree(folders["clip"], tmp_path / "b" / "clip")).name
    )
    published = OpenClipSettings(
        kind="openclip", architecture="ViT-bigG-14", tag="laion2b_s39b_b160k", weights="a/b"
    )
    assert open_openclip(published, Models()).name == "ViT-bigG-14/laion2b_s39b_b160k"


def test_a_gpu_that_is_too_small_is_named(folders, monkeypatch):
    clip = recognizer(folders["clip"], batch=4)
    clip.embed_texts(["x"])

    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(open_clip.model.CLIP, "encode_image", full)
    with pytest.raises(ModelUnavailable, match=r"too small for 3 at once: set `batch` below 3"):
        clip.embed_images(pictures(3))
