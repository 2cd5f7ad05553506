"""Hiro, the intentional explorer: he walks until he finds what he is looking for.

At every panorama he looks around, looks closer at promising signs, finds out which places they belong to,
reads their reviews, and enters or walks on. At crossings he looks down each road and takes the most
promising (V-IRL, section 3.3 and appendix D).
"""

from dataclasses import replace

from virl.agent.agent import Agent, FarEyes
from virl.agent.character import Character
from virl.agent.going_on import onward_pose
from virl.agent.routine import Wish
from virl.geo.globe import LatLng
from virl.mind.lexicon import Lexicon, found_in, load_lexicon, words_of
from virl.mind.understanding import Reading
from virl.mind.wishes import particulars_wanted, requested_attributes, wishes_in, words_for_kinds
from virl.pages.numbers import count_noun
from virl.platform.city.claims import AbsenceClaim, PlaceClaim
from virl.platform.city.outcome import Outcome
from virl.platform.movers.base import Choice, Step
from virl.platform.navigators.intention.navigator import IntentionNavigator
from virl.routines.explore.deciding import consider, sought_type
from virl.routines.explore.looking import LookAround, Signposts, places_seen
from virl.routines.explore.rules import TypeQuestion, choose_place_type


def _read_intention(character: Character, lexicon: Lexicon) -> Reading:
    """Return the intention with its words for a place type and its attributes."""
    text = character.intention
    kind = choose_place_type(TypeQuestion(intention=text, place_types=lexicon.kinds), lexicon).place_type
    used = (*words_for_kinds(text, [kind], lexicon), *(wish.stretch for wish in wishes_in(text, lexicon)))
    checked = tuple(found_in(text, particulars_wanted(text, lexicon)))
    return Reading(text, used, (character.name,), "explore", _NOT_DONE, checked)


_NOT_DONE = (
    *("and back", "come|comes|go|goes|walk|walks back", "return|returns"),
    *("all", "every", "each", "both", "another", "a new"),
)
"""Phrases that ask for more than entering one place, such as "every" or "and back"."""
WISH = Wish(_read_intention, field="intention")


def run(agent: Agent) -> None:
    """Walk until a place is entered or the limit of steps is reached, and end the run."""
    if not agent.run.steps or agent.run.steps[-1].next_pano_id:
        _explore(agent)
    last = agent.run.steps[-1]
    entered = next((place for place in last.places if place.decision == "enter"), None)
    # The navigator decides why a walk ends; a journal of an earlier version has that in words only.
    ended = last.outcome or Outcome("entered" if entered else "gave up", last.decided)
    character, sought, lexicon = agent.character, sought_type(agent), load_lexicon()
    types = (sought, *lexicon.also_counts.get(sought, ()))
    wishes = requested_attributes(character.background, character.intention)
    for particular in found_in(character.intention, particulars_wanted(character.intention, lexicon)):
        wishes[particular] = True
    claim: PlaceClaim | AbsenceClaim
    if entered:
        claim = PlaceClaim(entered.id, entered.name, types, wishes, character.day_and_minute)
    else:
        walked = tuple(LatLng(step.pose.lat, step.pose.lng) for step in agent.run.steps)
        claim = AbsenceClaim(walked, types, wishes, character.day_and_minute)
        ended = ended.with_detail(_describe_missed(agent, words_of(sought)))
    agent.run.end(ended, entered, claims=[claim])


def _describe_missed(agent: Agent, kind: str) -> str:
    """Return a sentence on the places of the sought kind that were seen, although none was entered."""
    walked = f"the {sum(step.distance_m for step in agent.run.steps):.0f} m that he walked"
    seen = [place for step in agent.run.steps for place in step.places]
    if not seen:
        return f"nothing that he could tell to be a {kind} was in sight on {walked}"
    last = seen[-1]
    places = count_noun(len(seen), "place")
    return f"{places} that may be a {kind} stood on {walked}, the last {last.name!r}: {last.reason}"


def _explore(agent: Agent) -> None:
    """Walk on from the start or where the run was cut off: look, consider places, write steps."""
    done = list(agent.run.steps)
    place_type = sought_type(agent)
    known = {place.id for step in done for place in step.places}
    senses = agent.senses
    if agent.city.capabilities.has_free_lookup:  # else each name on a sign would cost a request
        senses = replace(senses, describer=Signposts(agent, senses.describer, known))
    navigator = IntentionNavigator(
        agent.city.streetview,
        agent.mover,
        agent.mind,
        senses,
        intention=agent.character.intention,
        place_type=place_type,
        max_steps=agent.character.limits.steps,
        eyes=FarEyes(agent),
        prompts=agent.prompts,
    )
    for step in navigator.walk(onward_pose(agent), [step.pose.pano_id for step in done]):
        look = LookAround()
        for place in places_seen(agent, step, place_type, known, look):
            look.places.append(consider(agent, place))
        _write_down(agent, step, look)
        if look.entered_place:
            return


def _write_down(agent: Agent, step: Step, look: LookAround) -> None:
    """Write a step to the journal: the views, the places considered, and the choice."""
    entered = look.entered_place
    choice = Choice.end(Outcome("entered", entered.reason, entered.name)) if entered else step.choice
    roads = [
        record
        for road in choice.roads
        for record in agent.run.keep(road.view, "road", caption=road.description)
    ]
    agent.run.step(
        step,
        views=[*look.views, *roads],
        places=look.places,
        decided=choice.reason,
        next_pano_id=choice.link.pano_id if choice.link else None,
        outcome=choice.outcome,
    )
