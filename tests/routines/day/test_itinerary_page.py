import pytest

from virl.routines.day.activity import Activity, Spot
from virl.routines.day.showing import itinerary, plain

STATE = {"stress": 40.0, "joy": 50.0, "sadness": 1.0, "hunger": 2.0, "energy": 3.0, "pain": 4.0}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Old Town Café, 3.5 km", "Old Town Café, 3.5 km"),
        ("a [link](http://evil) <script>", r"a \[link\](http\://evil) \<script\>"),
        ("__bold__ *x* `code` | cell", r"\_\_bold\_\_ \*x\* \`code\` \| cell"),
        ("# Head", r"\# Head"),
        ("- item", r"\- item"),
        ("12. twelve", r"12\. twelve"),
        ("two\n\n# lines", "two # lines"),
        ("www.evil.com me@evil.com &amp;", r"www\.evil.com me\@evil.com \&amp;"),
        ("back\\slash", "back\\\\slash"),
    ],
)
def test_text_is_shown_as_it_is(text, shown):
    assert plain(text) == shown


def page(*activities):
    return itinerary(activities, title="A day", before=STATE, budget_usd=50, notes=["Said: more [tea]"])


def test_the_page_tells_times_money_and_feelings():
    spot = Spot(lat=0, lng=0, name="Mu|seum", id="m", sort="museum", address="1 Elm")
    state = STATE | {"stress": 30.0}
    visit = Activity(
        kind="normal", starts=600, ends=690, what="See", reason="Fine.", spot=spot, cost_usd=12.5,
        changes={"stress": -10, "joy": 0}, state=state, budget_usd=37.5,
    )  # fmt: skip
    text = page(visit)
    assert "- **10:00-11:30** See, Mu\\|seum ($12.50)" in text
    assert r"_less stress (10)_" in text
    assert "| stress | 40 | 30 |" in text
    assert "$12.50 of $50.00 are spent." in text
    assert "Said: more \\[tea\\]" in text


def test_an_empty_day_says_so():
    assert "Nothing could be planned." in page()
