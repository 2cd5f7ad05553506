"""What a planner asks the mind; every reply is written down, so that a resumed run asks nothing twice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from virl.agent.agent import Agent
from virl.clock import show_clock
from virl.mind.base import ReplyT
from virl.platform.city.places import DAY_NAMES
from virl.routines.clients.settings import Client
from virl.routines.day.activity import DayProgress, clamp_feelings
from virl.routines.day.outcome import changes_of, cost_of
from virl.routines.day.proposal import Proposal, RefusedDraft
from virl.routines.day.replies import DayDraft, DayEstimate, DayVerdict
from virl.routines.day.town import Town


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of one day."""

    agent: Agent
    client: Client
    town: Town
    scenic: str | None
    """The scenic spot in words, if there is one."""

    def draft(self, key: str, standing: DayProgress, refused: Sequence[RefusedDraft]) -> DayDraft:
        """Return the next activity, or another one in place of those refused.

        Args:
            key: of the note.
            standing: of the day so far.
            refused: drafts, with the reasons.
        """
        inputs: dict[str, object] = self._inputs_now(standing) | {
            "day": DAY_NAMES[self.town.weekday],
            "until": show_clock(self.town.day.minutes[1]),
            "here": standing.location_name(),
            "offers": self.town.offers(standing.here.position, standing.excluded_ids()),
            "scenic": self.scenic,
            "refused": [one.to_prompt() for one in refused],
        }
        return self._ask_once("draft", key, "day/draft", DayDraft, _show_draft, inputs)

    def estimate(self, key: str, proposal: Proposal, standing: DayProgress) -> DayEstimate:
        """Ask for the effects of an activity on the client, and for its cost.

        Args:
            key: of the note.
            proposal: the activity.
            standing: of the day so far.
        """
        inputs = self._client(standing) | {"activity": proposal.to_prompt()}
        return self._ask_once("estimate", key, "day/estimate", DayEstimate, _show_estimate, inputs)

    def audit(self, key: str, proposal: Proposal, estimate: DayEstimate, standing: DayProgress) -> DayVerdict:
        """Ask the mind whether an activity makes sense now; once for each `key`, then from the journal.

        Args:
            key: of the note.
            proposal: the activity.
            estimate: of its effects.
            standing: of the day so far.
        """
        inputs = self._inputs_now(standing) | {
            "after": clamp_feelings(standing.state, changes_of(estimate)),
            "activity": proposal.to_prompt() | {"cost_usd": cost_of(proposal, estimate)},
        }
        return self._ask_once("audit", key, "day/audit", DayVerdict, _show_verdict, inputs)

    def _client(self, standing: DayProgress) -> dict[str, object]:
        """Return the inputs that describe the client: who it is, and how it feels."""
        client = self.client
        about = {"name": client.name, "background": client.background, "intention": client.intention}
        return {"client": about, "state": dict(standing.state)}

    def _inputs_now(self, standing: DayProgress) -> dict[str, object]:
        """Return the inputs on the day so far: client, clock, dollars left, activities and wishes."""
        return self._client(standing) | {
            "now": show_clock(standing.now),
            "budget_usd": round(standing.budget_usd, 2),
            "done": [one.to_prompt() for one in standing.done],
            "wishes": list(standing.wishes),
        }

    def _ask_once(
        self,
        topic: str,
        key: str,
        prompt: str,
        reply: type[ReplyT],
        tell: Callable[[ReplyT], str],
        inputs: Mapping[str, Any],
    ) -> ReplyT:
        """Return the reply to a prompt, from the journal if it was asked before."""
        if noted := self.agent.run.find_note(topic, key):
            return reply.model_validate(noted.data["reply"])
        answer: ReplyT = self.agent.mind.ask(self.agent.prompts.load(prompt, reply), **inputs)
        self.agent.run.note(
            topic,
            key,
            tell(answer),
            data={"reply": answer.model_dump(mode="json")},
        )
        return answer


def _show_draft(one: DayDraft) -> str:
    """Return a draft as one line for the journal."""
    return f"{one.starts}-{one.ends} {one.kind}: {one.what}{f', {one.place}' if one.place else ''}"


def _show_estimate(one: DayEstimate) -> str:
    """Return an estimate as one line for the journal: the feelings that change, and dollars."""
    changes = ", ".join(f"{name} {by:+d}" for name, by in changes_of(one).items() if by)
    return f"{changes or 'no change'}; {one.cost_usd:.2f} dollars"


def _show_verdict(one: DayVerdict) -> str:
    """Return a verdict as one line for the journal."""
    return f"{'fits' if one.fits else 'does not fit'}: {one.reason}"
