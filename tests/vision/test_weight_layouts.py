"""Checkpoints as hubs offer them: safetensors or torch's own format, whole or in parts."""

import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra vision")
open_clip = pytest.importorskip("open_clip", reason="needs the extra vision")
transformers = pytest.importorskip("transformers", reason="needs the extra vision")

from test_huggingface_recognizer import make, tokenizer  # noqa: E402
from test_openclip_recognizer import CLIP, EVA, SIGLIP, save  # noqa: E402

from virl.errors import ModelUnavailable  # noqa: E402
from virl.platform.perception.models import ModelOptions, Models, model_names, read_model  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::FutureWarning")

LAYOUTS = ("safetensors", "bin", "safetensors in parts", "bin in parts")
LABELS = ["cafe", "trash_bin", "bank"]


def lay(folder: Path, weights: dict, stem: dict[str, str], layout: str) -> None:
    """Put weights into a folder in a layout; `stem` names the whole file of each format."""
    from safetensors.torch import save_file

    form = layout.split(maxsplit=1)[0]
    whole = stem[form]
    write = torch.save if form == "bin" else lambda part, file: save_file(part, file, {"format": "pt"})
    if layout == form:
        write(weights, folder / whole)
        return
    names = sorted(weights)
    begin, end = whole.rsplit(".", 1)
    weight_map = {}
    for number, part in enumerate((names[::2], names[1::2]), start=1):
        file = f"{begin}-0000{number}-of-00002.{end}"
        write({name: weights[name] for name in part}, folder / file)
        weight_map |= dict.fromkeys(part, file)
    (folder / f"{whole}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


TRANSFORMERS = {"safetensors": "model.safetensors", "bin": "pytorch_model.bin"}
OPENCLIP = {"safetensors": "open_clip_model.safetensors", "bin": "open_clip_pytorch_model.bin"}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """A whole checkpoint of each library and kind."""
    root = tmp_path_factory.mktemp("whole")
    for kind in ("clip", "siglip"):
        for part in (*make(kind), tokenizer(kind)):
            part.save_pretrained(root / "huggingface-clip" / kind)
    for kind, config in (("clip", CLIP), ("siglip", SIGLIP), ("eva", EVA)):
        save(root / "openclip" / kind, config)
    return root


def laid(checkpoints: Path, kind: str, name: str, layout: str, folder: Path) -> Path:
    shutil.copytree(checkpoints / kind / name, folder)
    if kind == "openclip":
        file = folder / OPENCLIP["bin"]
        weights, stem = torch.load(file, weights_only=True), OPENCLIP
    else:
        from safetensors.torch import load_file

        file = folder / TRANSFORMERS["safetensors"]
        weights, stem = load_file(file), TRANSFORMERS
    file.unlink()
    lay(folder, weights, stem, layout)
    return folder


def recognizer(kind: str, weights: object, tmp_path: Path, extra: str = ""):
    file = tmp_path / "model.yaml"
    file.write_text(f"kind: {kind}\nweights: {weights}\nbatch: 4\n{extra}")
    return Models(ModelOptions(device="cpu")).recognizer(str(file))


def pictures(count: int):
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (40, 52, 3), dtype=np.uint8) for _ in range(count)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("huggingface-clip", name) for name in ("clip", "siglip")),
     *(("openclip", name) for name in ("clip", "siglip", "eva"))],
)  # fmt: skip
def test_every_layout_loads_and_scores_alike(checkpoints, kind, name, layout, tmp_path):
    folder = laid(checkpoints, kind, name, layout, tmp_path / "weights")
    expected = recognizer(kind, checkpoints / kind / name, tmp_path).recognize(pictures(3), LABELS)
    assert np.ptp(expected) > 1e-3
    found = recognizer(kind, folder, tmp_path).recognize(pictures(3), LABELS)
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("kind", "stem"), [("huggingface-clip", TRANSFORMERS), ("openclip", OPENCLIP)])
def test_a_part_that_is_missing_and_a_folder_without_weights_are_told(checkpoints, kind, stem, tmp_path):
    folder = laid(checkpoints, kind, "clip", "bin in parts", tmp_path / "weights")
    next(folder.glob("*-00002-of-00002.bin")).unlink()
    with pytest.raises(ModelUnavailable, match="download") as fault:
        recognizer(kind, folder, tmp_path).recognize(pictures(1), LABELS)
    assert "\n" not in str(fault.value)
    for file in folder.glob("*pytorch_model*"):
        file.unlink()
    with pytest.raises(ModelUnavailable):
        recognizer(kind, folder, tmp_path).recognize(pictures(1), LABELS)


class Harmful:
    def __reduce__(self):
        return os.mkdir, ("harmed",)


@pytest.mark.parametrize(("kind", "stem"), [("huggingface-clip", TRANSFORMERS), ("openclip", OPENCLIP)])
def test_code_in_a_checkpoint_is_not_run(checkpoints, kind, stem, tmp_path, monkeypatch):
    folder = laid(checkpoints, kind, "clip", "bin", tmp_path / "weights")
    torch.save({"weight": Harmful()}, folder / stem["bin"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelUnavailable):
        recognizer(kind, folder, tmp_path).recognize(pictures(1), LABELS)
    assert not Path("harmed").exists()


@pytest.mark.parametrize(
    ("kind", "name"), [("huggingface-clip", "clip"), ("openclip", "clip"), ("openclip", "eva")]
)
@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_half_precision_says_nearly_the_same_under_another_name(checkpoints, kind, name, precision, tmp_path):
    folder = checkpoints / kind / name
    full, half = (
        recognizer(kind, folder, tmp_path),
        recognizer(kind, folder, tmp_path, f"precision: {precision}\n"),
    )
    a, b = full.embed_images(pictures(3)), half.embed_images(pictures(3))
    assert b.dtype == np.float32
    assert not np.array_equal(a, b)
    assert (a * b).sum(axis=1) == pytest.approx(np.ones(3), abs=0.02)
    assert half.recognize(pictures(3), LABELS) == pytest.approx(full.recognize(pictures(3), LABELS), abs=0.1)
    assert half.name == f"{full.name}/{precision}"


def test_the_files_of_the_papers_models_name_weights_that_openclip_knows():
    for name in model_names("recognizer"):
        settings = read_model("recognizer", name)
        assert settings.caption == "{label}", name
        if settings.kind == "openclip":
            published = open_clip.get_pretrained_cfg(settings.architecture, settings.tag)
            assert published["hf_hub"].rstrip("/") == settings.weights, name


class Hub(BaseHTTPRequestHandler):
    """What a model hub answers: the files of a repository, and what is in them."""

    folder: Path
    fetched: list[str]

    def do_HEAD(self):
        self._reply(with_body=False)

    def do_GET(self):
        self._reply(with_body=True)

    def log_message(self, *_):
        pass

    def _reply(self, *, with_body):
        path = self.path.partition("?")[0]
        names = sorted(file.name for file in self.folder.iterdir())
        if path.startswith("/api/models/me/mine/tree"):
            body = json.dumps(
                [{"type": "file", "path": name, "size": 1, "oid": "a"} for name in names]
            ).encode()
        elif path.startswith("/api/models/me/mine"):
            body = json.dumps(
                {"id": "me/mine", "sha": "a" * 40, "siblings": [{"rfilename": name} for name in names]}
            ).encode()
        elif (name := path.removeprefix("/me/mine/resolve/").partition("/")[2]) in names:
            body = (self.folder / name).read_bytes()
            if with_body:
                self.fetched.append(name)
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{hash(path) & 0xFFFFFF:x}"')
        self.send_header("X-Repo-Commit", "a" * 40)
        self.end_headers()
        if with_body:
            self.wfile.write(body)


@pytest.fixture
def hub(tmp_path):
    (tmp_path / "repository").mkdir()
    handler = type("Served", (Hub,), {"folder": tmp_path / "repository", "fetched": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield handler, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("kind", "offered", "fetched"),
    [
        ("huggingface-clip", ("bin",), "pytorch_model.bin"),
        ("huggingface-clip", ("bin", "safetensors"), "model.safetensors"),
        ("huggingface-clip", ("bin in parts",), "pytorch_model-0000"),
        ("openclip", ("bin",), "open_clip_pytorch_model.bin"),
        ("openclip", ("bin", "safetensors"), "open_clip_model.safetensors"),
    ],
)
@pytest.mark.slow
def test_of_what_a_hub_offers_one_format_is_fetched_and_loads(
    checkpoints, hub, kind, offered, fetched, tmp_path
):
    handler, address = hub
    for layout in offered:
        folder = laid(checkpoints, kind, "clip", layout, tmp_path / layout.replace(" ", "-"))
        shutil.copytree(folder, handler.folder, dirs_exist_ok=True)
    for other in ("tf_model.h5", "flax_model.msgpack", "open_clip_x.pt", "training.bin"):
        (handler.folder / other).write_bytes(b"never wanted")
    file = tmp_path / "mine.yaml"
    file.write_text(f"kind: {kind}\nweights: me/mine\n")
    folders = {"HF_HOME": str(tmp_path / "home"), "VIRL_DATA": str(tmp_path / "data")}
    tried = subprocess.run(
        [sys.executable, "-m", "virl", "models", "--try", str(file), "--device", "cpu", "--allow-downloads"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={
            **os.environ,
            **folders,
            "HF_ENDPOINT": address,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_OFFLINE": "0",
        },
    )
    assert tried.returncode == 0, tried.stderr
    assert "loaded and ran" in tried.stdout
    weights = {name for name in handler.fetched if not name.endswith((".json", ".txt"))}
    assert weights
    assert all(name.startswith(fetched) for name in weights), weights
