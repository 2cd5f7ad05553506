from collections import Counter

import numpy as np
import pytest

from benchmarks.perf.sign_words import LabelledName, coarse_type, labelled_names, language_of, score
from virl.osm.pois import Pois


@pytest.mark.parametrize(
    ("name", "country", "language"),
    [
        ("Apteekki", "fi", "fi"),
        ("Аптека", "ru", "ru"),
        ("Аптека", "uk", "uk"),
        ("Аптека", "fi", "ru"),
        ("Starbucks", "ru", "other"),
        ("大酒店", "de", "zh"),
        ("24/7", "fi", "fi"),
    ],
)
def test_a_name_is_in_the_language_of_its_country_or_script(name, country, language):
    assert language_of(name, country) == language


def test_finer_types_are_scored_as_one_of_the_twenty():
    assert coarse_type("preschool") == "school"
    assert coarse_type("museum") is None


def test_names_in_other_languages_count_once_each_and_stops_not_at_all():
    tags = (
        {"name": "Apteekki", "name:fi": "Apteekki", "name:sv": "Apoteket"},
        {"name": "Kauppatori"},
    )
    types = (("pharmacy", "store"), ("bus_stop", "transit_station"))
    pois = Pois(("n1", "n2"), tags, types, np.empty(2, object), Counter())
    named = [(each.name, each.language, each.truth) for each in labelled_names(pois, "fi")]
    assert named == [("Apteekki", "fi", "pharmacy"), ("Apoteket", "sv", "pharmacy")]


def test_precision_counts_answers_and_recall_names():
    def name(text: str, truth: str | None) -> LabelledName:
        return LabelledName(text, "fi", truth, held_out=False)

    answers = {
        name("a", "bar"): "bar",
        name("b", "bar"): None,
        name("c", None): "bar",
        name("d", None): None,
    }
    told = score("fi", answers)
    assert (told.names, told.others, told.precision, told.recall) == (2, 2, 0.5, 0.5)
    assert score("sv", answers).precision is None
