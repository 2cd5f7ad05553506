"""What the page on the status of virl says is what the package says."""

import re
import tomllib
from pathlib import Path

import yaml

import virl

ROOT = Path(__file__).parent.parent
STATUS = (ROOT / "docs" / "status.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_file_is_complete_and_names_this_version() -> None:
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()  # required by format 1.2.0
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["version"] == virl.__version__
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["repository-code"] == PROJECT["urls"]["Source"]


def test_the_page_cites_what_the_file_cites() -> None:
    [software, article] = re.findall(r"^@\w+\{.*?^\}", STATUS, re.MULTILINE | re.DOTALL)
    assert all(str(CITATION[key]) in software for key in ("title", "version", "license", "repository-code"))
    [paper] = CITATION["references"]
    assert paper["title"] in article
    assert str(paper["year"]) in article
    assert all(f"{one['family-names']}, {one['given-names']}" in article for one in paper["authors"])


def test_the_pythons_that_were_tried_are_those_of_the_package() -> None:
    tried = re.search(r"^\| Python \| (.*?): every test", STATUS, re.MULTILINE)
    assert tried
    classified = [
        one.rpartition(" ")[2]
        for one in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", one)
    ]
    assert tried[1].split(", ") == classified


def test_questions_go_where_the_package_says() -> None:
    assert f"<{PROJECT['urls']['Issues']}>" in STATUS
