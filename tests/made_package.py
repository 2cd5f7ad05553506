"""Packages laid out as installed ones, with entry points, for what is found by name."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest


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
