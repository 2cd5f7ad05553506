"""Packages laid out as installed ones, with entry points, for what is found by name."""

import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent / "plugin"
"""The example package of docs/how-to/extending.md."""


def install(
    monkeypatch: pytest.MonkeyPatch,
    site: Path,
    name: str,
    groups: Mapping[str, Sequence[str]],
    modules: Mapping[str, str],
) -> None:
    """Put a package on the path.

    Args:
        monkeypatch: takes it off the path again.
        site: a folder such as `site-packages`.
        name: of the package.
        groups: lines such as `"moon = moon_cities:PROVIDER"` by entry-point group.
        modules: sources by module name.
    """
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    text = "".join(f"[{group}]\n" + "\n".join(lines) + "\n" for group, lines in groups.items())
    (info / "entry_points.txt").write_text(text)
    for module, source in modules.items():
        (site / f"{module}.py").write_text(source)
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.syspath_prepend(str(site))


def install_plugin(
    monkeypatch: pytest.MonkeyPatch, site: Path, groups: Mapping[str, Sequence[str]] | None = None
) -> Path:
    """Put the example package on the path, with its entry points and further ones; its folder is returned.

    Args:
        monkeypatch: takes it off the path again.
        site: a folder such as `site-packages`, which gets a copy.
        groups: further lines by entry-point group, such as `"moon = no_moon:PROVIDER"`.
    """
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    entries = {
        group: [f"{name} = {where}" for name, where in given.items()]
        for group, given in project["entry-points"].items()
    }
    for group, lines in (groups or {}).items():
        entries.setdefault(group, []).extend(lines)
    for module in [name for name in sys.modules if name.partition(".")[0] == "mytown"]:
        del sys.modules[module]  # of an earlier copy
    shutil.copytree(PLUGIN / "mytown", site / "mytown", ignore=shutil.ignore_patterns("__pycache__"))
    install(monkeypatch, site, project["name"], entries, {})
    return site / "mytown"
