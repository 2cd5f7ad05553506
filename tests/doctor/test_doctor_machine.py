"""What the doctor finds on a machine, and the remedies that it names."""

from pathlib import Path

import pytest
from made_package import install

from virl.doctor import machine
from virl.doctor.machine import (
    browser,
    cache,
    core,
    data_sets,
    extras,
    google,
    minds,
    models,
    packages,
    packages_of,
)
from virl.doctor.services import Finding
from virl.errors import BadInput
from virl.mind.open import KEYS
from virl.platform.perception.standing import ModelReadiness, Need


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GOOGLE_MAPS_API_KEY", "GOOGLE_MAPS_SIGNING_SECRET", "VIRL_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for names in KEYS.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))


def states(findings: list[Finding]) -> dict[str, str]:
    return {finding.what: finding.state for finding in findings}


def test_a_town_that_does_not_open_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert core().state == "ok"

    def fail(name: str) -> None:
        raise BadInput(f"{name}.yaml, line 3: seed: field is missing")

    monkeypatch.setattr(machine, "open_city", fail)
    found = core()
    assert (found.state, "line 3" in found.detail, "pip install" in found.remedy) == ("broken", True, True)


def test_keys_are_named_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert states(list(google())) == {
        "GOOGLE_MAPS_API_KEY": "missing",
        "GOOGLE_MAPS_SIGNING_SECRET": "missing",
    }
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "AIza-marker")
    monkeypatch.setenv("GOOGLE_MAPS_SIGNING_SECRET", "bWFya2Vy")
    found = list(google())
    assert set(states(found).values()) == {"ok"}
    assert "marker" not in repr(found).lower()
    assert "bWFya2Vy" not in repr(found)


def test_a_key_that_is_none_is_a_finding_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "AIza-marker with spaces")
    (found,) = google()
    assert (found.state, "marker" in repr(found)) == ("missing", False)
    assert "copy it again" in found.remedy


def test_a_key_of_any_language_model_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    (none,) = minds()
    assert none.state == "missing"
    assert "OPENAI_API_KEY" in none.remedy
    monkeypatch.setenv("GROQ_API_KEY", "gsk-marker")
    (found,) = minds()
    assert (found.state, found.detail) == ("ok", "groq (GROQ_API_KEY)")


def test_the_browser_is_looked_for_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert states(list(browser())) == {"browser": "missing", "browser's driver": "missing"}
    assert all("make web-deps" in finding.remedy for finding in browser())
    driver = tmp_path / "chromedriver"
    driver.write_text("#!/bin/sh\n")
    driver.chmod(0o755)
    found = {finding.what: finding for finding in browser()}
    assert (found["browser"].state, found["browser's driver"].detail) == ("missing", str(driver))


def test_data_sets_are_those_of_virl_data(tmp_path: Path) -> None:
    assert states(list(data_sets())) == {"data set touchdown": "missing", "data set r2r": "missing"}
    (tmp_path / "data" / "r2r" / "connectivity").mkdir(parents=True)
    found = {finding.what: finding for finding in data_sets()}
    assert found["data set r2r"].state == "ok"
    assert "virl data touchdown --from" in found["data set touchdown"].remedy


def test_the_cache_has_a_size_and_is_left_as_it_was(tmp_path: Path) -> None:
    assert cache().state == "ok"
    assert not (tmp_path / "cache").exists()
    (tmp_path / "cache" / "google").mkdir(parents=True)
    (tmp_path / "cache" / "google" / "replies").write_bytes(bytes(2_500_000))
    assert cache().detail.endswith("2.5 MB")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["google"]


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "file"))
    found = cache()
    assert (found.state, "VIRL_CACHE" in found.remedy) == ("missing", True)


def test_packages_of_extras() -> None:
    requirements = [
        "httpx<1,>=0.28",
        "ray<3,>=2.60; extra == 'ray'",
        'open-clip-torch<4,>=3.3; extra == "vision"',
        "torch; python_version < '3.14' and extra == 'vision'",
    ]
    assert packages_of(requirements) == {"ray": ["ray"], "vision": ["open-clip-torch", "torch"]}


def test_every_extra_of_a_user_is_looked_at() -> None:
    found = {finding.what: finding for finding in extras()}
    wanted = {
        *(
            "eyes",
            "film",
            "geo",
            "google",
            "gym",
            "inspect",
            "maps",
            "mcp",
            "notebook",
            "osm",
            "otel",
            "overture",
            "photos",
        ),
        *("ray", "serve", "train", "vision", "web"),
    }
    assert {f"extra {name}" for name in wanted} == found.keys()
    assert found["extra serve"].state == "ok"  # the tests need it
    for name, finding in found.items():
        if finding.state == "missing":
            assert finding.remedy == f"pip install 'virl[{name.removeprefix('extra ')}]'"


def test_the_models_of_the_offline_core_are_ready() -> None:
    ready = next(finding for finding in models() if finding.state == "ok")
    assert {"rapidocr", "sign-detector", "sign-describer"} <= set(ready.detail.split(", "))


def test_models_that_lack_the_same_are_told_together(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = {
        "a": (
            Need("torch", "torch not installed", "pip install 'virl[vision]'"),
            Need("weights a", "none", "fetch"),
        ),
        "b": (Need("torch", "torch not installed", "pip install 'virl[vision]'"),),
        "c": (Need("torch"), Need("weights c", "weights c are not there", "put them in a folder")),
        "d": (Need("torch"),),
    }
    monkeypatch.setattr(machine, "model_names", lambda role: list(lacks) if role == "detector" else [])
    monkeypatch.setattr(
        machine, "model_readiness", lambda role, name: ModelReadiness(role, name, "made", lacks[name])
    )
    together, alone, ready = models()
    assert (together.detail, together.remedy) == ("a, b: torch not installed", "pip install 'virl[vision]'")
    assert (alone.detail, alone.remedy) == ("c: weights c are not there", "put them in a folder")
    assert (ready.state, ready.detail) == ("ok", "d")


def test_what_other_packages_give_and_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert not list(packages())
    groups = ("routines", "tools", "providers", "models", "benchmarks")
    entries = {f"virl.{group}": [f"bye-{group} = leaves:IT"] for group in groups}
    install(monkeypatch, tmp_path / "site", "old-town", entries, {"leaves": "raise SystemExit(3)"})
    found = list(packages())
    for group, finding in zip(groups, found, strict=True):
        assert f"'bye-{group}' of old-town cannot be imported (SystemExit: 3)" in finding.detail
    assert {finding.state for finding in found} == {"missing"}, "the offline core works"
