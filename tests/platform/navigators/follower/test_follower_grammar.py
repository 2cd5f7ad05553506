import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.platform.navigators.follower.clauses import (
    BlocksClause,
    Clause,
    CloseClause,
    GoClause,
    LandmarkClause,
    NamedCrossing,
    OrientClause,
    PassClause,
    PauseClause,
    ReachClause,
    StopClause,
    TurnClause,
    WhereClause,
)
from virl.platform.navigators.follower.grammar import Rule
from virl.platform.navigators.follower.reading import MAX_WORDS, RULES, matches, normalise, parse

SENTENCES: dict[str, list[Clause]] = {
    "Turn left at the second light": [TurnClause("left", NamedCrossing("light", 2))],
    "Hang a sharp right": [TurnClause("right", sharp=True)],
    "Bear left": [TurnClause("left", slight=True)],
    "Take your third right": [TurnClause("right", nth=3)],
    "At the next intersection make a left": [
        ReachClause(NamedCrossing("intersection", following=True)),
        TurnClause("left"),
    ],
    "Turn right where the road ends": [TurnClause("right", NamedCrossing("end"))],
    "turn left as soon as you can't go straight anymore": [TurnClause("left", NamedCrossing("end"))],
    "taking a left at the next light": [TurnClause("left", NamedCrossing("light", following=True))],
    "then a right at the next light": [TurnClause("right", NamedCrossing("light", following=True))],
    "then at the light after that take a right": [
        ReachClause(NamedCrossing("light")),
        TurnClause("right"),
    ],
    "through the 1st, 2nd and 3rd intersections": [PassClause(3, NamedCrossing("intersection"))],
    "through two T-intersections": [PassClause(2, NamedCrossing("tee"))],
    "pass the first right turn you can make": [PassClause(1, NamedCrossing("side"))],
    "ignore the first right": [PassClause(1, NamedCrossing("side"))],
    "do not turn right": [],
    "at the end of the third block": [ReachClause(NamedCrossing("block", 3))],
    "between the second and third lights": [LandmarkClause()],
    "go down two lights": [BlocksClause(2)],
    "the third light may have a bank": [ReachClause(NamedCrossing("light", 3), told=True)],
    "soon after that there is a light": [CloseClause(ahead=True), ReachClause(NamedCrossing("light"))],
    "exit the intersection": [WhereClause("after", NamedCrossing("intersection"))],
    "two steps after the bank": [LandmarkClause()],
    "two steps after it and": [WhereClause("after", NamedCrossing("intersection", earlier=True), steps=2)],
    "Go straight through the next two sets of traffic lights": [
        PassClause(2, NamedCrossing("light", following=True))
    ],
    "cross the street twice": [PassClause(2, NamedCrossing("street"))],
    "pass one more light": [PassClause(1, NamedCrossing("light", following=True))],
    "for three long blocks": [BlocksClause(3)],
    "just before the T-intersection": [WhereClause("before", NamedCrossing("tee"))],
    "a couple of steps past the 2nd light": [WhereClause("after", NamedCrossing("light", 2), steps=2)],
    "about 40% of the way down the block": [WhereClause("at", fraction=0.4)],
    "less than halfway down": [WhereClause("at", fraction=0.4)],
    "3/4 of the way to the next light": [
        WhereClause("at", NamedCrossing("light", following=True), fraction=0.75)
    ],
    "a few steps after turning": [WhereClause("after", steps=3, turned=True)],
    "in the middle of the intersection": [WhereClause("in", NamedCrossing("intersection"))],
    "at the third building": [WhereClause("at", building=3)],
    "stop.": [StopClause(bare=True), PauseClause(sentence=True)],
    "Do not turn left at the pharmacy": [],
    "If you reach the lights you've gone too far": [],
    "If you see the zoo you went too far": [],
    "Face the direction of traffic": [OrientClause(traffic=True)],
    "Turn so that you go against the flow of traffic": [OrientClause(traffic=False)],
    "Stand with the intersection behind you": [OrientClause(crossing=False)],
    "the bakery across the street": [LandmarkClause()],
    "Take the left fork": [TurnClause("left", NamedCrossing("fork"), slight=True)],
    "take the fork to the right": [TurnClause("right", NamedCrossing("fork"), slight=True)],
    "Take the next off-ramp": [TurnClause("right", slight=True)],
    "Make two left turns": [TurnClause("left", times=2)],
    "Turn right at the next two lights": [TurnClause("right", NamedCrossing("light"), times=2)],
    "followed by another right": [TurnClause("right")],
    "turn to your left": [TurnClause("left", looks=True)],
    "do not take the hard right but bear left": [TurnClause("left", slight=True)],
    "The road veers to the right": [],
    "follow the curve to the left": [],
    "down the next block": [PassClause(1, NamedCrossing("block"), again=True)],
    "once you have crossed the street": [PassClause(1, NamedCrossing("street"), again=True)],
    "before going through another light": [PassClause(1, NamedCrossing("light", following=True), then=True)],
    "walk past it": [PassClause(1, NamedCrossing("intersection", earlier=True), thing=True)],
    "the lights right after": [ReachClause(NamedCrossing("intersection", following=True))],
    "an intersection with a stop sign": [
        ReachClause(NamedCrossing("intersection")),
        LandmarkClause(corner=True),
    ],
    "the lights almost immediately after": [ReachClause(NamedCrossing("light", soon=True))],
    "the light right after the bank": [ReachClause(NamedCrossing("light"))],
    "go through the one immediately after it": [
        PassClause(1, NamedCrossing("intersection", earlier=True, soon=True))
    ],
    "turn left almost immediately": [TurnClause("left", quick=True, soon=True)],
    "a double set of traffic lights": [ReachClause(NamedCrossing("double"))],
    "the first light of the double intersection": [ReachClause(NamedCrossing("double", 1))],
    "a six-way intersection": [ReachClause(NamedCrossing("many"))],
    "pass a side street": [PassClause(1, NamedCrossing("side"))],
    "continue down a very long block": [GoClause(long=True)],
    "most of the way down the next block": [WhereClause("at", fraction=0.9)],
    "near the end of the park": [],
    "so as not to make it a sharp left": [],
    "on different blocks": [LandmarkClause(passed=True)],
    "open 24/7": [],
    "take the street behind you": [TurnClause("around")],
    "bear half left": [TurnClause("left", slight=True)],
    "Take the second street on the left": [TurnClause("left", nth=2)],
    "it is before the second crossing": [LandmarkClause(place=NamedCrossing("intersection", 2))],
    "You are there already": [StopClause(bare=True, here=True)],
}


@pytest.mark.parametrize(("sentence", "clauses"), SENTENCES.items(), ids=SENTENCES)
def test_sentences(sentence: str, clauses: list[Clause]) -> None:
    assert parse(sentence) == clauses


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_reads_its_example(rule: Rule) -> None:
    assert matches(rule.example)[0][0] is rule


def test_rules_have_names_of_their_own() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Go THRU the 2nd set of lights!", "go through the 2nd LIGHT ."),
        ("twenty-one", "twenty 1"),
        ("Halfway, then one third of it", "1/2 , then 1/3 of it"),
        ("the light blue door", "the light blue door"),
        ("a light-brownish door", "a light brownish door"),
        ("until you can't go any further", "ROADEND"),
        ("a T-shaped intersection", "a TEE"),
        ("at the top of the T-intersection", "at the TEE"),
        ("the double light at the next intersection", "the DOUBLE"),
        ("a 3-way intersection", "a THREEWAY"),
        ("a 4-way stop", "a STOPSIGN"),
        ("at the fork in the road", "at the FORK"),
        ("You\N{RIGHT SINGLE QUOTATION MARK}ll see", "you will see"),
        ("\x00\N{DANCER}", ""),
    ],
)
def test_words(text: str, line: str) -> None:
    assert normalise(text) == line


@pytest.mark.slow
@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert len(parse(text)) <= len(normalise(text).split())


@given(st.lists(st.sampled_from([word for rule in RULES for word in rule.example.split()]), max_size=60))
def test_any_jumble_of_the_grammar_is_read(words: list[str]) -> None:
    text = " ".join(words)
    assert len(parse(text)) <= len(normalise(text).split())


@pytest.mark.parametrize("phrase", ["turn so ", "left ", "the ", "go straight ", "next light ", "a step or "])
@pytest.mark.slow
def test_long_texts_are_read_as_far_as_the_bound(phrase: str) -> None:
    assert len(parse(phrase * 10_000)) <= MAX_WORDS
    assert parse(phrase * 10_000) == parse(phrase * 20_000)
    assert len(normalise(phrase * 10_000).split()) <= MAX_WORDS


def test_a_rule_looks_no_farther_than_a_clause_is_long() -> None:
    found = matches("turn left . " * MAX_WORDS)
    assert found
    assert max(match.endpos - match.pos for _, match in found) == 600
