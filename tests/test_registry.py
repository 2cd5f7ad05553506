"""What is found by name: virl's own by scanning, that of other packages by their entry points."""

import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from made_package import install

from virl import registry
from virl.errors import BadInput, ModelUnavailable, UnknownName
from virl.platform.providers.provider import PROVIDERS
from virl.registry import ROUTINES, Registry, scan, scan_modules

GROUP, OLD_GROUP = "virl.tests", "virl.old_tests"
TOYS = (
    "from test_registry import Toy\nCAR = Toy('car')\nclass Box:\n    BALL = Toy('ball')\nTEXT = 'a string'\n"
)


@dataclass(frozen=True)
class Toy:
    name: str


OURS = Toy("ours")

REGISTRY = Registry("toy", GROUP, Toy, lambda: {"bear": "test_registry:OURS"}, aliases=(OLD_GROUP,))


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "test_registry", sys.modules[__name__])


def test_ours_is_found_without_any_package() -> None:
    assert REGISTRY.names() == ["bear"]
    assert "bear" in REGISTRY
    assert "car" not in REGISTRY
    assert REGISTRY.find("bear") is OURS
    assert REGISTRY.module("bear") == "test_registry"


def test_a_package_adds_by_either_group(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    groups = {GROUP: ["car = toys:CAR"], OLD_GROUP: ["ball = toys:Box.BALL", "car = toys:CAR"]}
    install(monkeypatch, tmp_path, "toy-shop", groups, {"toys": TOYS})
    assert REGISTRY.names() == ["ball", "bear", "car"]
    assert "ball" in REGISTRY
    assert REGISTRY.module("car") == "toys"
    assert "toys" not in sys.modules, "names and modules are told without importing anything"
    assert (REGISTRY.find("car").name, REGISTRY.find("ball").name) == ("car", "ball")


def test_an_unknown_name_lists_the_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path, "toy-shop", {GROUP: ["car = toys:CAR"]}, {"toys": TOYS})
    for ask in (REGISTRY.find, REGISTRY.module):
        with pytest.raises(
            UnknownName, match="unknown toy 'cat': did you mean 'car'\\? choose one of: bear, car"
        ):
            ask("cat")


def test_two_packages_that_give_the_same_name_are_both_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, tmp_path / "a", "toy-shop", {GROUP: ["car = toys:CAR"]}, {"toys": TOYS})
    install(monkeypatch, tmp_path / "b", "garage", {OLD_GROUP: ["car = toys:CAR"]}, {})
    with pytest.raises(BadInput, match="toy 'car' is provided by garage and toy-shop: uninstall one of them"):
        REGISTRY.find("car")


def test_no_package_takes_the_place_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    groups = {GROUP: ["bear = toys:CAR", "car = toys:CAR"]}
    install(monkeypatch, tmp_path, "toy-shop", groups, {"toys": TOYS})
    assert REGISTRY.find("bear") is OURS
    found, faults = REGISTRY.usable()
    assert [toy.name for toy in found.values()] == ["ours", "car"]
    assert [str(fault) for fault in faults] == [
        "toy 'bear' of toy-shop is not used: virl has one of that name; rename it, or uninstall toy-shop"
    ]


def test_a_broken_package_is_named_in_a_line_and_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    groups = {
        GROUP: [
            "absent = no_such_module:TOY",
            "bad = bursting:TOY",
            "bye = leaving:TOY",
            "car = toys:CAR",
            "gone = toys:TRAIN",
            "odd = toys:TEXT",
        ]
    }
    bursting = "raise RuntimeError('no\\nluck')\n"
    install(
        monkeypatch,
        tmp_path,
        "toy-shop",
        groups,
        {"toys": TOYS, "bursting": bursting, "leaving": "raise SystemExit(3)"},
    )
    found, faults = REGISTRY.usable()
    assert list(found) == ["bear", "car"]
    remedy = "install what it needs, update or uninstall it"
    absent, lacking = "No module named 'no_such_module'", "module 'toys' has no attribute 'TRAIN'"
    assert [str(fault) for fault in faults] == [
        f"toy 'absent' of toy-shop cannot be imported (ModuleNotFoundError: {absent}): {remedy}",
        f"toy 'bad' of toy-shop cannot be imported (RuntimeError: no luck): {remedy}",
        f"toy 'bye' of toy-shop cannot be imported (SystemExit: 3): {remedy}",
        f"toy 'gone' of toy-shop cannot be imported (AttributeError: {lacking}): {remedy}",
        "toy 'odd' of toy-shop: toys:TEXT is not a test_registry.Toy",
    ]
    with pytest.raises(ModelUnavailable, match="toy 'bad' of toy-shop"):
        REGISTRY.find("bad")
    with pytest.raises(BadInput, match=r"not a test_registry\.Toy"):
        REGISTRY.find("odd")


def test_folders_and_modules_are_scanned_without_being_imported(tmp_path: Path) -> None:
    for file in (
        "rooms/__init__.py",
        "rooms/a_b/__init__.py",
        "rooms/a_b/door.py",
        "rooms/c/wall.py",
        "rooms/d.py",
    ):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if file == "rooms/__init__.py" else "raise SystemExit('imported')\n")
    code = (
        "from virl.registry import scan, scan_modules\n"
        "print(scan('rooms', 'door', 'DOOR'), scan_modules('rooms', 'DOOR'), scan('no_rooms', 'a', 'A'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{'a-b': 'rooms.a_b.door:DOOR'} {'d': 'rooms.d:DOOR'} {}"


def test_what_is_scanned_is_there() -> None:
    assert {"google", "graph", "offline"} <= scan("virl.platform.providers", "provider", "PROVIDER").keys()
    assert scan_modules("virl.platform.perception.readers", "KIND").keys() == {
        "paddleocr",
        "rapidocr",
        "sign-reader",
    }


def test_the_entry_points_of_all_groups_are_looked_up_once(monkeypatch, tmp_path):
    looked = []
    monkeypatch.setattr(registry, "entry_points", lambda: looked.append(1) or entry_points())
    monkeypatch.syspath_prepend(str(tmp_path))  # they are kept for each path
    for group in (ROUTINES, PROVIDERS):
        group.names()
    assert len(looked) == 1
