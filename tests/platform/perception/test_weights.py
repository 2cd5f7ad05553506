import threading
import time

import pytest

from virl.errors import ModelUnavailable, first_line
from virl.extras import module, require
from virl.platform.perception.models import ModelOptions
from virl.platform.perception.weights import (
    batches,
    checkpoint,
    find_checkpoint,
    load_once,
    models_home,
)

HUB_ID = "nobody-at-all/no-such-model"


@pytest.fixture(autouse=True)
def _data_home(monkeypatch, tmp_path):
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def test_missing_packages_are_named_with_their_extra():
    require("vision", "json", "numpy")
    with pytest.raises(
        ModelUnavailable, match=r"^no_such_a and no_such_b not installed: pip install 'virl\[vision\]'$"
    ):
        require("vision", "json", "no_such_a", "no_such_b")
    with pytest.raises(ModelUnavailable, match="no_such_a not installed"):
        module("no_such_a.part", extra="vision")
    assert module("json", extra="vision").dumps([1]) == "[1]"


def test_a_package_that_is_broken_says_so(monkeypatch, tmp_path):
    (tmp_path / "broken_package.py").write_text("import no_such_part\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModelUnavailable, match=r"broken_package cannot be imported .*no_such_part"):
        module("broken_package", extra="vision")


def test_a_checkpoint_is_a_path_or_lies_in_the_folder_of_models(tmp_path, monkeypatch):
    here = tmp_path / "weights.pt"
    here.write_bytes(b"")
    assert checkpoint(str(here), ModelOptions()) == str(here)
    monkeypatch.chdir(tmp_path)
    assert checkpoint("weights.pt", ModelOptions()) == "weights.pt"
    assert models_home() == tmp_path / "data" / "models"
    kept = models_home() / HUB_ID
    kept.mkdir(parents=True)
    assert find_checkpoint(HUB_ID) == kept
    assert checkpoint(HUB_ID, ModelOptions()) == str(kept)
    assert checkpoint("nobody-at-all", ModelOptions()) == str(kept.parent)


def test_a_missing_checkpoint_says_where_to_put_it():
    for source in ("swin.pth", "/no/such/folder", "../up", "~/models/x", "a/b/c"):
        assert find_checkpoint(source) is None
        with pytest.raises(ModelUnavailable, match="are not there: put them there, or in ") as fault:
            checkpoint(source, ModelOptions(allow_downloads=True))
        assert str(models_home()) in str(fault.value)
    with pytest.raises(ModelUnavailable) as fault:
        checkpoint(HUB_ID, ModelOptions())
    for part in (f"https://huggingface.co/{HUB_ID}", str(models_home() / HUB_ID), "--allow-downloads"):
        assert part in str(fault.value)


def test_something_is_made_on_first_use_and_once():
    made = []

    def make():
        time.sleep(0.02)
        made.append(threading.get_ident())
        return made

    load = load_once(make)
    assert made == []
    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert load() is load()
    assert len(made) == 1


def test_what_failed_to_load_is_tried_again():
    answers = [ModelUnavailable("no file"), "weights"]

    def make():
        answer = answers.pop(0)
        if isinstance(answer, ModelUnavailable):
            raise answer
        return answer

    load = load_once(make)
    with pytest.raises(ModelUnavailable, match="no file"):
        load()
    assert load() == "weights"


def test_weights_are_shared_by_all_that_ask_for_the_same():
    loads = []

    @load_once
    def load(path, device):
        loads.append((path, device))
        return object()

    assert load("a", "cpu") is load("a", "cpu")
    assert load("a", "cpu") is not load("b", "cpu")
    assert loads == [("a", "cpu"), ("b", "cpu")]


def test_batches_are_full_but_for_the_last():
    assert [list(part) for part in batches(range(5), 2)] == [[0, 1], [2, 3], [4]]
    assert list(batches([], 2)) == []


def test_the_first_line_of_an_error_stands_for_it():
    assert first_line(ValueError("\n  no file \nand more")) == "no file"
    assert first_line(KeyError()) == "KeyError"
    assert len(first_line(ValueError("x" * 999))) == 200
