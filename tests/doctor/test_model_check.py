"""Labelled views of Virlton, and models measured on them."""

import json

import pytest
from typer.testing import CliRunner

from virl.cli.main import app
from virl.doctor.labelled_views import KINDS, read_labelled, write_labelled
from virl.doctor.model_quality import COLUMNS, ModelMeasurement, Score, measure_here, rows, write_check
from virl.errors import BadInput
from virl.platform.providers import open_city


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    write_labelled(open_city("virlton"), "virlton", folder, 8, seed=3)
    return folder


@pytest.mark.slow
def test_half_of_the_views_are_of_places_and_half_of_furniture(views):
    labelled = read_labelled(views)
    assert len(labelled.views) == 8
    of_places = [one for one in labelled.views if one.place_types]
    assert len(of_places) == 4
    assert all((views / one.file).is_file() for one in labelled.views)
    for one in labelled.views:
        assert any(thing.clear for thing in one.things)
        wanted = set(one.place_types) or set(KINDS)
        assert any(wanted & set(thing.labels) for thing in one.things)


@pytest.mark.slow
def test_models_that_need_no_weights_are_measured(views):
    low = measure_here("detector", "simulated-low", views, "cpu", False)
    high = measure_here("detector", "simulated-high", views, "cpu", False)
    assert not low.fault
    assert low.first.at == 0.55
    assert low.second.at == 0.65
    assert low.first.recall >= high.first.recall
    assert low.first.precision > 0.6
    assert low.images_per_s > 0
    assert sum(there for _, there in low.of_label.values()) == low.first.there


@pytest.mark.slow
def test_a_model_that_is_not_ready_says_why(views, tmp_path):
    file = tmp_path / "owl.yaml"
    file.write_text(
        "kind: owlvit\nweights: not/here\nprompt: '{label}'\nmin_score: 0.1\nfirst_look: 0.1\n"
        "second_look: 0.2\nmax_overlap: 0.5\nbatch: 1\n"
    )
    told = measure_here("detector", str(file), views, "cpu", False)
    assert "not installed" in told.fault or "not on this machine" in told.fault
    assert rows([told])[0][2:] == ("-",) * (len(COLUMNS) - 2)


@pytest.mark.slow
def test_the_page_has_the_table_and_loads_nothing(views):
    done = measure_here("detector", "simulated", views, "cpu", False)
    broken = ModelMeasurement("<owl>", "detector", fault="weights are not there")
    reader = ModelMeasurement("rapid", "reader", images_per_s=2.5, first=Score(None, 0.5, 0.25, 1, 2, 4))
    page = write_check(views, read_labelled(views), [done, broken, reader]).read_text()
    assert "&lt;owl&gt;" in page
    assert '<td class="n">25 %</td>' in page
    assert page.count("data:image/webp;base64,") == 4
    assert "http://" not in page.replace("http://www.w3.org", "")
    told = json.loads((views / "check.json").read_text())
    assert told[0]["first"]["there"] == done.first.there
    assert "found" not in told[0]


def test_a_folder_without_labels_and_a_city_without_truth_are_refused(tmp_path):
    with pytest.raises(BadInput, match=r"no labels\.json: write views with `virl models --write-views"):
        read_labelled(tmp_path)
    (tmp_path / "labels.json").write_text('{"city": "virlton"}')
    with pytest.raises(BadInput, match="is damaged"):
        read_labelled(tmp_path)


@pytest.mark.slow
def test_by_the_command_line(tmp_path):
    run = CliRunner()
    done = run.invoke(app, ["models", "--write-views", str(tmp_path / "v"), "--count", "4"])
    assert done.exit_code == 0, done.output
    assert "4 views with" in done.output
    done = run.invoke(
        app, ["models", "--check", str(tmp_path / "v"), "--model", "simulated", "--model", "rapidocr"]
    )
    assert done.exit_code == 0, done.output
    assert "rapidocr" in done.output
    assert (tmp_path / "v" / "check.html").is_file()
    done = run.invoke(app, ["models", "--check", str(tmp_path / "v"), "--model", "sift"])
    assert done.exit_code == 2
    assert "sift is a matcher that cannot be measured" in done.output
