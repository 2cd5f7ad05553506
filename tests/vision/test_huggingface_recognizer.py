"""CLIP and SigLIP of Transformers, with tiny random checkpoints that are saved and loaded from disk."""

import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra vision")
pytest.importorskip("torchvision", reason="needs the extra vision")
transformers = pytest.importorskip("transformers", reason="needs the extra vision")

from virl.errors import BadInput, ModelUnavailable  # noqa: E402
from virl.platform.perception.models import ModelOptions, Models  # noqa: E402
from virl.platform.perception.recognizers.huggingface_clip import (  # noqa: E402
    HuggingFaceClipSettings,
    open_huggingface_clip,
)

WORDS = ["a", "photo", "of", "red", "door", "bench", "cafe", "bank", "trash", "bin", "lion", "two"]
ENDS = {"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
TOWER = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
TEXT = TOWER | {
    "vocab_size": 32,
    "max_position_embeddings": 24,
    "pad_token_id": 1,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
VISION = TOWER | {"image_size": 32, "patch_size": 8}


def tokenizer(kind):
    """One token a word, or for SigLIP 2, which has a tokenizer class of its own, one a letter."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    if kind == "siglip2":
        letters = ["<unk>", "<pad>", "<s>", "</s>", "▁", *sorted(set("".join(WORDS)))]
        return transformers.Siglip2Tokenizer({letter: i for i, letter in enumerate(letters)}, [], **ENDS)
    vocabulary = {word: number for number, word in enumerate([*ENDS.values(), *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token=ENDS["unk_token"]))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 2), ("</s>", 3)]
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, **ENDS)


def make(kind):
    """Model and image processor of a kind, with random weights."""
    torch.manual_seed(0)
    size = {"height": 32, "width": 32}
    if kind == "clip":
        config = transformers.CLIPConfig(text_config=TEXT, vision_config=VISION, projection_dim=24)
        processor = transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=size)
        return transformers.CLIPModel(config), processor
    if kind == "siglip":
        config = transformers.SiglipConfig(text_config=TEXT, vision_config=VISION)
        model = transformers.SiglipModel(config)
        processor = transformers.SiglipImageProcessor(size=size)
    else:
        vision = TOWER | {"patch_size": 8, "num_patches": 16}
        config = transformers.Siglip2Config(text_config=TEXT | {"projection_size": 32}, vision_config=vision)
        model = transformers.Siglip2Model(config)
        processor = transformers.Siglip2ImageProcessor(patch_size=8, max_num_patches=16)
    with torch.no_grad():
        model.logit_scale.fill_(1.2)
        model.logit_bias.fill_(-0.7)
    return model, processor


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("transformers")
    for kind in ("clip", "siglip", "siglip2"):
        for part in (*make(kind), tokenizer(kind)):
            part.save_pretrained(root / kind)
    return root


def recognizer(weights, batch=8, **fields):
    settings = HuggingFaceClipSettings(kind="huggingface-clip", weights=str(weights), batch=batch, **fields)
    return open_huggingface_clip(settings, Models(ModelOptions(device="cpu")))


def pictures(count, size=(40, 52)):
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for _ in range(count)]


KINDS = ["clip", "siglip", "siglip2"]
DIMENSION = {"clip": 24, "siglip": 32, "siglip2": 32}


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_model_itself(folders, kind):
    images, labels = pictures(3), ["red door", "bench", "bank"]
    scores = recognizer(folders / kind, caption="a photo of a {label}").recognize(images, labels)
    model = transformers.AutoModel.from_pretrained(folders / kind).eval()
    prepare = transformers.AutoImageProcessor.from_pretrained(folders / kind)
    captions = [f"a photo of a {label}" for label in labels]
    tokens = transformers.AutoTokenizer.from_pretrained(folders / kind)(
        captions, padding="max_length", max_length=24, return_tensors="pt"
    )
    with torch.inference_mode():
        seen = prepare(images=images, return_tensors="pt")
        logits = model(input_ids=tokens["input_ids"], **seen).logits_per_image.double()
    expected = torch.softmax(logits, dim=1) if kind == "clip" else torch.sigmoid(logits)
    assert scores == pytest.approx(expected.numpy(), abs=1e-5)
    sums = scores.sum(axis=1)
    assert (np.abs(sums - 1) < 1e-5).all() == (kind == "clip")


@pytest.mark.parametrize("kind", KINDS)
def test_batches_give_what_one_by_one_gives(folders, kind):
    images, texts = pictures(5), ["red door", "bench", "a", "a photo of two lion of red", "bank"]
    together, alone = recognizer(folders / kind, batch=3), recognizer(folders / kind, batch=1)
    for rows, singly in (
        (together.embed_images(images), alone.embed_images(images)),
        (together.embed_texts(texts), alone.embed_texts(texts)),
    ):
        assert rows.dtype == np.float32
        assert rows.shape == (5, DIMENSION[kind])
        assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
        assert rows == pytest.approx(singly, abs=1e-5)
        assert np.linalg.matrix_rank(rows) == 5
    assert np.array_equal(together.embed_texts(["RED Door"]), together.embed_texts(["red door"]))
    assert together.embed_texts(["a photo of " * 20]).shape == (1, DIMENSION[kind])  # longer than it takes


@pytest.mark.parametrize("kind", KINDS)
def test_labels_keep_their_order(folders, kind):
    clip, images = recognizer(folders / kind), pictures(2)
    scores = clip.recognize(images, ["cafe", "trash_bin", "bank"])
    assert clip.recognize(images, ["bank", "trash bin", "cafe"])[:, ::-1] == pytest.approx(scores, abs=1e-6)
    assert len(np.unique(scores.round(7))) == 6
    assert clip.recognize([], ["cafe", "bank"]).shape == (0, 2)
    with pytest.raises(BadInput, match="no labels"):
        clip.recognize(images, [])
    with pytest.raises(BadInput, match="give a list"):
        clip.recognize(images, "cafe")


@pytest.mark.parametrize("kind", KINDS)
def test_grayscale_and_transparent_pictures_count_as_colour(folders, kind):
    clip, (image,) = recognizer(folders / kind), pictures(1)
    gray = image[..., 0]
    opaque = np.dstack([image, np.full(image.shape[:2], 255, np.uint8)])
    rows = clip.embed_images([np.dstack([gray] * 3), gray, image, opaque])
    assert rows[1] == pytest.approx(rows[0], abs=1e-6)
    assert rows[3] == pytest.approx(rows[2], abs=1e-6)
    for wrong in (image[:, :0], image.astype(float), "door.jpg"):
        with pytest.raises(BadInput):
            clip.embed_images([image, wrong])


def test_a_checkpoint_of_another_kind_is_named(tmp_path):
    config = transformers.OwlViTConfig()
    config.save_pretrained(tmp_path)
    with pytest.raises(
        ModelUnavailable, match="contains a model of type owlvit: use one of type clip or siglip"
    ):
        recognizer(tmp_path).embed_texts(["x"])


def test_what_is_missing_is_named(folders, tmp_path, monkeypatch):
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    with pytest.raises(ModelUnavailable, match=r"google/siglip-none.*--allow-downloads"):
        recognizer("google/siglip-none").embed_texts(["x"])
    with pytest.raises(ModelUnavailable, match="put them there"):
        recognizer(tmp_path / "nothing").embed_texts(["x"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelUnavailable, match="is not a transformers checkpoint"):
        recognizer(tmp_path / "empty").embed_texts(["x"])
    make("clip")[0].config.save_pretrained(tmp_path / "bare")
    with pytest.raises(ModelUnavailable, match="cannot be loaded") as caught:
        recognizer(tmp_path / "bare").embed_texts(["x"])
    assert "\n" not in str(caught.value)


def test_weights_that_are_not_all_there_are_refused(folders, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(folders / "clip", tmp_path / "clip")
    weights = load_file(folder / "model.safetensors")
    del weights["visual_projection.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelUnavailable, match=r"lacks weights, such as visual_projection\.weight"):
        recognizer(folder).embed_texts(["x"])


def test_weights_in_half_precision_are_computed_with_in_full(folders, tmp_path):
    folder = shutil.copytree(folders / "clip", tmp_path / "clip")
    transformers.AutoModel.from_pretrained(folder).half().save_pretrained(folder)
    whole, half = (
        recognizer(folders / "clip").embed_images(pictures(2)),
        recognizer(folder).embed_images(pictures(2)),
    )
    assert half == pytest.approx(whole, abs=1e-2)
    assert not np.array_equal(half, half.astype(np.float16))
