import dataclasses
import shutil
import sys
import threading
from importlib.metadata import version

import numpy as np
import pytest
from tiny_tokenizers import bert_vocabulary

from virl.errors import BadInput, ModelUnavailable
from virl.platform.perception import weights
from virl.platform.perception.detectors.grounding_dino import GroundingDinoSettings, open_grounding_dino
from virl.platform.perception.detectors.grounding_dino_py import (
    GroundingDinoPySettings,
    clash,
    load_network,
    open_grounding_dino_py,
)
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.weights import device_of, guard_memory

for package in ("torch", "transformers"):
    pytest.importorskip(package, reason=f"needs {package}: make test-vision")

LABELS = ["trash bin", "jewelry_store", "Bench", "traffic lights"]
CPU = ModelOptions(device="cpu")
EVERYTHING = {"min_score": 0.0, "first_look": 0.0, "second_look": 0.0}


def open_it(folder, **changes):
    values = {
        "weights": str(folder),
        **EVERYTHING,
        "max_overlap": None,
        "batch": 2,
    }
    settings = GroundingDinoSettings(kind="grounding-dino", **{**values, **changes})
    return open_grounding_dino(settings, Models(CPU))


@pytest.fixture(scope="module")
def detector(grounding_dino):
    return open_it(grounding_dino)


def test_boxes_lie_in_the_picture_best_first(detector, make_view):
    found = detector.detect([make_view(1, 96, 128)], LABELS)[0]
    assert len(found) == 20
    for one in found:
        assert 0 <= one.box[0] < one.box[2] <= 128
        assert 0 <= one.box[1] < one.box[3] <= 96
        assert 0 <= one.score <= 1
        assert one.label in LABELS
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 5


def test_labels_are_those_of_the_words_that_the_library_names(detector, grounding_dino, make_view):
    """The library gives each box the words of its best tokens; ours is the label that they are from."""
    import torch
    from PIL import Image
    from transformers import AutoModelForZeroShotObjectDetection, AutoProcessor

    model = AutoModelForZeroShotObjectDetection.from_pretrained(grounding_dino)
    processor = AutoProcessor.from_pretrained(grounding_dino)
    own = {"trash": "trash bin", "bin": "trash bin", "jewelry": "jewelry_store", "store": "jewelry_store"}
    own |= {"bench": "Bench", "traffic": "traffic lights", "light": "traffic lights", "s": "traffic lights"}
    compared = set()
    for seed, labels in enumerate([LABELS, LABELS[:2], LABELS[::-3], LABELS[1:3]]):
        view = make_view(seed)
        prompt = "".join(f"{label.lower().replace('_', ' ')} . " for label in labels).strip()
        inputs = processor(images=Image.fromarray(view.pixels), text=prompt, return_tensors="pt")
        with torch.inference_mode():
            outputs = model(**inputs)
        probabilities = outputs.logits.sigmoid()[0]
        tokens = processor.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        words = [i for i, token in enumerate(tokens) if token not in {"[CLS]", "[SEP]", "."}]
        sizes = torch.tensor([view.pixels.shape[:2]])
        post_process = processor.post_process_grounded_object_detection
        boxes = post_process(outputs, threshold=0.0, target_sizes=sizes)[0]
        wanted = sorted(
            (float(row[words].max()), own[tokens[words[int(row[words].argmax())]].removeprefix("##")], box)
            for row, box in zip(probabilities, boxes["boxes"].tolist(), strict=True)
        )
        found = sorted((one.score, one.label, list(one.box)) for one in detector.detect([view], labels)[0])
        assert [label for _, label, _ in found] == [label for _, label, _ in wanted]
        np.testing.assert_allclose([one[0] for one in found], [one[0] for one in wanted], atol=1e-5)
        clipped = np.clip([one[2] for one in wanted], 0, [128, 96, 128, 96])
        np.testing.assert_allclose([one[2] for one in found], clipped, atol=1e-3)
        compared |= {label for _, label, _ in found}
    assert len(compared) > 1


def test_a_batch_sees_what_one_view_after_the_other_shows(detector, make_view):
    views = [make_view(1), make_view(2), make_view(3, 64, 64), make_view(4)]
    together = detector.detect(views, LABELS)
    assert together[0] != together[1]
    for view, found in zip(views, together, strict=True):
        alone = detector.detect([view], LABELS)[0]
        assert [one.label for one in alone] == [one.label for one in found]
        np.testing.assert_allclose([one.box for one in alone], [one.box for one in found], atol=1e-3)
        np.testing.assert_allclose([one.score for one in alone], [one.score for one in found], atol=1e-5)
        assert detector.detect([view], LABELS)[0] == alone


def test_thresholds_drop_the_weak_and_the_doubles(detector, grounding_dino, make_view):
    every = detector.detect([make_view(1)], LABELS)[0]
    middle = every[10].score
    kept = open_it(grounding_dino, min_score=middle).detect([make_view(1)], LABELS)[0]
    assert kept == [one for one in every if one.score >= middle]
    apart = open_it(grounding_dino, max_overlap=0.0).detect([make_view(1)], LABELS)[0]
    assert every[0] in apart
    assert len(apart) < len(every)


def test_no_views_need_no_weights(tmp_path):
    assert open_it(tmp_path / "nothing").detect([], LABELS) == []


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "grounding-dino finds only the labels it is given"),
        (["bin . bench"], r"reads '\.' as the end of a label"),
        ([f"bin {a} {b}" for a in "abcdefghij" for b in "klmnopqrst"], r"100 labels make \d+ tokens"),
    ],
)
def test_labels_that_the_prompt_cannot_hold_are_refused(detector, make_view, labels, message):
    with pytest.raises(BadInput, match=message):
        detector.detect([make_view()], labels)


@pytest.mark.parametrize("shape", [(0, 4, 3), (9, 9, 5)])
def test_what_is_no_picture_is_refused(detector, make_view, shape):
    view = dataclasses.replace(make_view(), pixels=np.zeros(shape, np.uint8))
    with pytest.raises(BadInput):
        detector.detect([view], LABELS)


def test_gray_pictures_are_looked_at(detector, make_view):
    view = make_view(1)
    gray = view.pixels[..., 0]
    same = np.dstack([gray] * 3)
    found = [detector.detect([dataclasses.replace(view, pixels=pixels)], LABELS) for pixels in (gray, same)]
    assert found[0] == found[1]


def test_weights_are_loaded_on_first_use_and_once_for_all(grounding_dino, make_view, monkeypatch, tmp_path):
    from transformers import AutoModelForZeroShotObjectDetection

    loads = []
    load = AutoModelForZeroShotObjectDetection.from_pretrained

    def counted(*arguments, **options):
        loads.append(arguments)
        return load(*arguments, **options)

    monkeypatch.setattr(AutoModelForZeroShotObjectDetection, "from_pretrained", counted)
    copy = shutil.copytree(grounding_dino, tmp_path / "copy")  # which nobody has loaded before
    detectors = [open_it(copy), open_it(copy)]
    assert loads == []
    threads = [threading.Thread(target=one.detect, args=([make_view()], LABELS)) for one in detectors * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1


def test_a_checkpoint_of_another_kind_is_named(owlvit, make_view):
    with pytest.raises(ModelUnavailable, match="of type owlvit: use one of type grounding-dino or mm-"):
        open_it(owlvit).detect([make_view()], LABELS)


def test_no_weights_say_where_to_put_them(make_view, monkeypatch, tmp_path):
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    with pytest.raises(ModelUnavailable, match=f"into {tmp_path}/models/nobody-at-all/no-model, or allow"):
        open_it("nobody-at-all/no-model").detect([make_view()], LABELS)


def test_a_missing_package_names_the_extra(grounding_dino, make_view, monkeypatch):
    monkeypatch.setattr(weights, "PACKAGES", ("torch", "no_such_vision"))
    with pytest.raises(ModelUnavailable, match=r"no_such_vision not installed: pip install 'virl\[vision\]'"):
        open_it(grounding_dino).detect([make_view()], LABELS)


def test_a_full_gpu_asks_for_a_smaller_batch(detector, make_view, monkeypatch):
    import torch
    from transformers import GroundingDinoForObjectDetection

    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nMore lines.")

    monkeypatch.setattr(GroundingDinoForObjectDetection, "forward", full)
    with pytest.raises(ModelUnavailable, match=r"grounding-dino: .* 2 at once: set `batch` below 2") as fault:
        detector.detect([make_view(1), make_view(2)], LABELS)
    assert "\n" not in str(fault.value)


def test_other_errors_are_not_taken_for_a_full_gpu():
    with pytest.raises(RuntimeError, match="shapes"), guard_memory("m", 4):
        raise RuntimeError("shapes do not fit")


def test_a_gpu_that_is_not_there_is_said():
    import torch

    assert device_of(CPU) == "cpu"
    if torch.cuda.is_available():
        assert device_of(ModelOptions(device="auto")) == device_of(ModelOptions(device="cuda")) == "cuda"
    else:
        assert device_of(ModelOptions(device="auto")) == "cpu"
        with pytest.raises(ModelUnavailable, match="no GPU that torch can use: choose the device cpu"):
            device_of(ModelOptions(device="cuda"))


PY = {
    "backbone": "swin-t",
    **EVERYTHING,
    "max_overlap": None,
    "batch": 2,
}


def of_package(weights, text_encoder, edges=(288, 400)):
    sizes = {"shortest_edge": edges[0], "longest_edge": edges[1]}
    return GroundingDinoPySettings(
        kind="grounding-dino-py", weights=str(weights), text_encoder=str(text_encoder), **sizes, **PY
    )


def test_the_package_that_is_missing_is_named(make_view, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "groundingdino", None)
    with pytest.raises(ModelUnavailable, match="groundingdino-py not installed: use the detector"):
        open_grounding_dino_py(of_package("w", "t"), Models(CPU)).detect([make_view()], LABELS)


@pytest.mark.skipif(version("transformers").startswith("4."), reason="this one works with the package")
def test_the_package_does_not_work_with_this_transformers(make_view, monkeypatch, tmp_path):
    (tmp_path / "groundingdino").mkdir()
    (tmp_path / "groundingdino" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    said = f"does not work with transformers {version('transformers')}: use the detector grounding-dino"
    assert said in of_package("w", "t").needs().clash
    with pytest.raises(ModelUnavailable, match=said):
        load_network(of_package("w", "t"), CPU)


@pytest.fixture(scope="module")
def package_weights(tmp_path_factory):
    """A text encoder and weights, random, for the package's own network; skips where it cannot run."""
    pytest.importorskip("groundingdino", reason="needs groundingdino-py in an environment of its own")
    if clash():
        pytest.skip(clash())
    import torch
    from groundingdino.config import GroundingDINO_SwinT_OGC as config
    from groundingdino.models import build_model
    from groundingdino.util.slconfig import SLConfig
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("bert")
    tokenizer = BertTokenizerFast(vocab_file=str(bert_vocabulary(folder)))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    small = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(tokenizer), **small)).save_pretrained(folder)
    arguments = {name: value for name, value in vars(config).items() if not name.startswith("_")}
    network = build_model(SLConfig({**arguments, "text_encoder_type": str(folder)}))
    file = folder / "network.pth"
    torch.save({"model": {f"module.{name}": array for name, array in network.state_dict().items()}}, file)
    return file, folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the package uses what torch and transformers have deprecated
def test_the_package_finds_the_same_one_by_one_as_in_a_batch(package_weights, make_view):
    detector = open_grounding_dino_py(of_package(*package_weights), Models(CPU))
    views = [make_view(1), make_view(2)]
    together = detector.detect(views, LABELS)
    assert together[0] != together[1]
    for view, found in zip(views, together, strict=True):
        assert len(found) == 900
        assert {one.label for one in found} <= set(LABELS)
        assert all(
            0 <= one.box[0] < one.box[2] <= 128 and 0 <= one.box[1] < one.box[3] <= 96 for one in found
        )
        alone = detector.detect([view], LABELS)[0]
        np.testing.assert_allclose([one.score for one in alone], [one.score for one in found], atol=5e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_weights_of_another_backbone_are_refused_by_the_package(package_weights, make_view):
    settings = of_package(*package_weights).model_copy(update={"backbone": "swin-b"})
    with pytest.raises(ModelUnavailable, match=r"cannot be loaded|it lacks"):
        open_grounding_dino_py(settings, Models(CPU)).detect([make_view()], LABELS)
