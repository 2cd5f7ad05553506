"""The layers: one list in `pyproject.toml`, shown in CONTRIBUTING.md, that names every package."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
GROUND = {
    *("__init__", "__main__", "bugs", "clock", "console", "errors", "extras"),
    *("files", "geo", "guard", "inline_html", "json_reading", "picture_reading", "plain_text"),
    *("redaction", "region", "region_file", "registry", "resources", "retry", "stores"),
    *("trace_export", "traces", "version"),
}
PARTS = {"authoring", "metrics", "movers", "navigators", "perception", "prompting", "providers"}
"""Public modules, which hold nothing but names of other modules."""
MOST_IN_MIND = 22


def contract() -> list[list[str]]:
    """The modules of each layer, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    [layers] = [
        one["layers"] for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers"
    ]
    return [re.split(r"\s*[|:]\s*", layer) for layer in layers]


def shown() -> list[list[str]]:
    """The packages of each row of the table in CONTRIBUTING.md, the highest first, as dotted names."""
    text = (
        (ROOT / "CONTRIBUTING.md")
        .read_text()
        .partition("<!-- layers -->")[2]
        .partition("<!-- /layers -->")[0]
    )
    rows = [line.split("|")[2] for line in text.splitlines() if re.match(r"\| \d", line)]
    return [[name.strip("/").replace("/", ".") for name in re.findall(r"`([^`]+)`", row)] for row in rows]


def test_the_table_in_contributing_shows_the_layers_of_the_contract():
    packages = [[name for name in layer if (ROOT / name.replace(".", "/")).is_dir()] for layer in contract()]
    ordered = [sorted(layer) for layer in packages if layer]
    *above, ground = shown()
    assert [name for name in ground if "*" in name] == ["virl.platform.*.py", "virl.*.py"]
    expected = []
    # "`a` over `b`" in one row of the table is two layers of the contract
    for layer in (*above, *([name] for name in ground if "*" not in name)):
        one = sorted(layer)
        expected += [one] if one in ordered else [[name] for name in layer]
    assert expected == ordered


def test_every_package_and_ground_module_has_a_layer():
    named = {name for layer in contract() for name in layer}
    packages = {
        f"virl.{path.parent.name}"
        for path in (ROOT / "virl").glob("*/__init__.py")
        if path.parent.name != "platform"
    } | {f"virl.platform.{path.parent.name}" for path in (ROOT / "virl" / "platform").glob("*/__init__.py")}
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for folder in (ROOT / "virl", ROOT / "virl" / "platform")
        for path in folder.glob("*.py")
        if not path.stem.startswith("__")
    }
    assert packages | modules | {"agents", "benchmarks"} == named


def test_no_module_stands_loose_above_the_ground():
    assert {path.stem for path in (ROOT / "virl").glob("*.py")} == GROUND | PARTS


def test_the_mind_holds_what_asks_caches_counts_and_checks_and_no_more():
    assert len(list((ROOT / "virl" / "mind").glob("*.py"))) <= MOST_IN_MIND
