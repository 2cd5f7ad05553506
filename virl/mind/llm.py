"""`LLMMind`: a mind that asks any LangChain model for typed replies, plain text, or turns with tools."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.rate_limiters import BaseRateLimiter
from pydantic_core import to_jsonable_python

from virl.errors import BadInput, VirlError
from virl.mind.base import Describe, Pictures, ProgressListener, Prompt, ReplyT
from virl.mind.cache import ReplyCache
from virl.mind.chat.asking import Model, ModelCall, make_model_call
from virl.mind.chat.client import (
    MessagesInWords,
    ModelClient,
    ask_next_message,
    ask_valid_reply,
    reply_key,
    request_identity,
)
from virl.mind.chat.faults import WHOLE, redaction_of
from virl.mind.chat.question import Question, build_question, image_notes
from virl.mind.chat.sending import PATIENCE, Replies, RequestUsage, Sender
from virl.mind.chat.tracing import request_parameters, trace_reused_reply
from virl.mind.providers import REASONED_TOKENS, TIMEOUT_S, ChatManner, Usage, manner_of
from virl.mind.replies import Text
from virl.mind.settings import Abilities, MindSettings, NotTaken
from virl.money.ledger import Ledger
from virl.plain_text import plain_lines
from virl.redaction import Redaction
from virl.retry import RetryPolicy

REMEMBERED = 400
"""Number of a streaming reply's last characters kept, to find an API key split between pieces; chosen."""


class _ProgressHandler(BaseCallbackHandler):
    """A LangChain callback handler that passes the progress of requests on to a listener."""

    def __init__(self, name: str, listener: ProgressListener, redaction: Redaction) -> None:
        """Begin to report the model of this name to `listener`, with keys removed by `redaction`."""
        self._name, self._listener, self._redaction = name, listener, redaction
        self._user_words = ""

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Tell the listener that a request to a chat model was sent."""
        self._user_words = ""
        self._listener.begin(self._name)

    on_llm_start = on_chat_model_start  # LangChain's name for a completion model

    def on_llm_new_token(self, token: str | list[str | dict[str, Any]], **_: Any) -> None:
        """Tell the listener of a piece of the reply: its characters, and the end of the reply so far."""
        piece = token if isinstance(token, str) else ""
        self._user_words = f"{self._user_words}{piece}"[-REMEMBERED:]
        self._listener.add(len(piece), plain_lines(self._redaction.text(self._user_words)))

    def on_llm_end(self, *_: Any, **__: Any) -> None:
        """Tell the listener that the reply is complete, or that none will come."""
        self._listener.end()

    on_llm_error = on_llm_end


LONGEST_WAIT_S = 60.0
"""Upper bound on a pause between tries, in seconds; chosen: rate limits are often per minute."""
FIRST_WAIT_S = 0.5  # chosen; doubles with every further try

_MOST_CALLS_KEPT = 64  # functions that ask for one schema each; chosen: more than the schemas of one run


class LLMMind:
    """A mind that asks a chat model, or a completion model for prompts of plain text.

    A reply that does not fit its type is asked for again with the fault named, at most `retries` times a
    question; a request that fails for the moment is tried again, for about a minute where the server says so.
    """

    def __init__(  # noqa: PLR0913  each of them is for a caller to choose
        self,
        model: Model,
        name: str,
        *,
        cache: ReplyCache | None = None,
        retries: int = 2,
        price: tuple[float, float] | None = None,
        manner: ChatManner | None = None,
        abilities: Abilities | None = None,
        longest_reply: int = REASONED_TOKENS,
        settings: MindSettings | None = None,
        longest_wait: float = LONGEST_WAIT_S,
        sleep: Callable[[float], None] = time.sleep,
        limiter: BaseRateLimiter | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        """Prepare to ask a model; no request is sent.

        Args:
            model: any LangChain chat or completion model; its own retries should be off.
            name: such as `"openai:gpt-5-mini"`; also the name its price goes by.
            cache: where replies are kept; `None` keeps none.
            retries: further requests after the first, 0 or more.
            price: dollars for a million tokens (input, output); by default those that `request_usd` knows.
            manner: how the model is asked; by default as its provider's models are.
            abilities: what the model takes; by default everything, until it refuses something.
            longest_reply: tokens of a reply at most; so many are held in the budget until it is there.
            settings: as the user has set them, for those who hold conversations through `converse`.
            longest_wait: seconds, the most that is waited before another try.
            sleep: waits some seconds.
            limiter: asked before every request that is sent; `None` sets no limit.
            ledger: keeps each exchange, and checks before every request what it is expected to cost; by
                default one without a limit.
        """
        redaction, ledger = redaction_of(model), ledger or Ledger()
        self.settings = settings or MindSettings()
        self._listeners: list[ProgressListener] = []
        sender = Sender(
            name,
            redaction,
            price,
            retries=retries,
            # an overloaded server is waited for, however few tries a bad reply gets
            policy=RetryPolicy(max(PATIENCE, retries), FIRST_WAIT_S, longest_wait, sleep),
            limiter=limiter,
            ledger=ledger,
            longest_reply=longest_reply,
            longest_question=self.settings.question_timeout or WHOLE * (self.settings.timeout or TIMEOUT_S),
            pauses=self._report_pause,
            parameters=request_parameters(name, model),
        )
        self._client = ModelClient(
            model,
            name,
            request_identity(model, name, redaction),
            sender,
            manner or manner_of(name),
            abilities or Abilities(),
            cache,
            retries,
            ledger,
        )
        self._calls: dict[str, ModelCall] = {}
        self._user_words: Callable[[], Sequence[str]] = tuple

    @property
    def name(self) -> str:
        """The name of the model with its provider, such as `"openai:gpt-5-mini"`."""
        return self._client.name

    @property
    def ledger(self) -> Ledger:
        """The ledger to which each exchange is written, failed ones with `error` as their reply."""
        return self._client.ledger

    def with_own_ledger(self) -> Self:
        """Return the same mind with a ledger of its own, for work that runs side by side."""
        # the sender stays the same: its budget, its pace and what it has remarked are shared
        return self._with_client(ledger=self.ledger.with_own_ledger())

    def charged_to(self, ledger: Ledger) -> Self:
        """Return the same mind, whose questions are recorded and charged in another ledger."""
        return self._with_client(sender=replace(self._client.sender, ledger=ledger), ledger=ledger)

    def without_retries(self) -> Self:
        """Return a copy of the mind that does not ask again after a reply that does not fit its type."""
        return self._with_client(retries=0)

    def _with_client(self, **changes: Any) -> Self:
        """Return a copy of the mind whose client has other values in some fields."""
        other = copy(self)
        other._client = replace(self._client, **changes)  # noqa: SLF001  of its own class
        return other

    @property
    def is_priced(self) -> bool:
        """Return whether the price of the model's tokens is known."""
        return self._client.sender.usd(Usage()) is not None

    def with_user_words(self, said: Callable[[], Sequence[str]]) -> Self:
        """Return this mind, with the same ledger; each question ends with the user's messages from `said`.

        Only questions with typed replies: plain texts, such as what a view shows, are no decisions.
        """
        other = copy(self)
        other._user_words = said  # noqa: SLF001  of its own class
        return other

    def tell(self, hearing: ProgressListener) -> None:
        """Add a listener to pauses between tries; only the last one added is told of pieces of replies."""
        self._listeners.append(hearing)
        model, redaction = self._client.model, self._client.sender.redaction
        model.callbacks = [_ProgressHandler(self._client.name, hearing, redaction)]
        if isinstance(model, BaseChatModel) and "streaming" in type(model).model_fields:
            model.streaming = True  # type: ignore[attr-defined]

    def _report_pause(self, seconds: float, why: str) -> None:
        """Tell all listeners of a pause of so many seconds before another try, and why it is made."""
        for listener in self._listeners:
            listener.waits(self._client.name, seconds, why)

    @property
    def profile(self) -> Mapping[str, object]:
        """Facts that LangChain knows of the model, such as `max_input_tokens`; empty if it knows none."""
        return dict(getattr(self._client.model, "profile", None) or {})

    @property
    def chats(self) -> bool:
        """Return whether the model is a chat model, not a completion model."""
        return isinstance(self._client.model, BaseChatModel)

    @property
    def sees(self) -> bool:
        """Return whether pictures are sent to the model: true until it refuses one, unless set otherwise."""
        return self._client.abilities.sees

    def describe_by(self, describe: Describe) -> None:
        """Set the function that describes views in words, used where the model takes no pictures."""
        self._client.describe = describe

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},  # noqa: ARG002 - a model has them in words
        **inputs: object,
    ) -> ReplyT:
        """Return the model's reply to a prompt, an instance of its reply type; `rule_inputs` are ignored."""
        client = self._client
        said = () if issubclass(prompt.reply, Text) else tuple(self._user_words())
        noted = to_jsonable_python(inputs) | ({"images": image_notes(images)} if images else {})
        noted |= {"user_said": list(said)} if said else {}
        tally = RequestUsage(prompt.name)
        # what the model refuses is left out, and the question is asked again without it
        while True:
            try:
                try:
                    return self._ask(client, prompt, images, inputs, noted, said, tally)
                except NotTaken as refused:
                    client.learn(refused, tally)
            except VirlError as fault:
                client.write_down(prompt.name, noted, {"error": str(fault)}, tally)
                raise

    def _ask(
        self,
        client: ModelClient,
        prompt: Prompt[ReplyT],
        images: Pictures,
        inputs: dict[str, object],
        noted: dict[str, object],
        said: Sequence[str],
        tally: RequestUsage,
    ) -> ReplyT:
        """Return a question's reply, from the cache or the model; the ledger gets its inputs as `noted`."""
        if images and not (client.abilities.sees or prompt.needs_pictures):
            client.says_blind(tally)
        question = build_question(
            prompt, inputs, images, client.manner, client.abilities, client.model, client.describe, said
        )
        key = reply_key(client, prompt, question)
        if client.cache and (kept := client.cache.get(key, prompt.reply, inputs)):
            client.write_down(prompt.name, noted, kept.model_dump(), tally, cached=True)
            return kept
        reply = ask_valid_reply(
            client, self._model_call(client, prompt, question), prompt, question, inputs, tally
        )
        client.write_down(prompt.name, noted, reply.model_dump(), tally)
        # an empty text may be a fault of the moment: a later run asks again
        if not (isinstance(reply, Text) and not reply.text.strip()):
            client.keep(key, prompt.name, reply.model_dump(mode="json"))
        return reply

    def replays(self, about: str) -> None:
        """Trace a turn of the prompt `about` that a resumed run takes from its journal, without a request."""
        trace_reused_reply(self._client.sender.parameters, about, how="replayed")

    @property
    def chat_model(self) -> BaseChatModel:
        """The LangChain chat model itself, for a caller that holds a conversation through `converse`.

        Raises:
            BadInput: it is a completion model, which calls no tools.
        """
        if not isinstance(self._client.model, BaseChatModel):
            raise BadInput(
                f"{self._client.name} is a completion model and cannot call tools: choose a chat model, "
                "such as --mind openai:MODEL"
            )
        return self._client.model

    def converse(
        self,
        about: str,
        ask: ModelCall,
        messages: Sequence[BaseMessage],
        frame: Mapping[str, object],
        in_words: MessagesInWords | None = None,
        replies: Replies | None = None,
    ) -> AIMessage:
        """Return a conversation's next message, written down as `about`; `frame`: its system text and tools.

        It is sent, paid for and written down as the questions of `ask`. A turn in which nothing was said, or
        that was cut off or spoilt, is asked for again. Only turns that call tools of the frame, or answer in
        words, are kept for later runs. What is returned can be sent back in a history: its calls have legal
        names and ids of their own.

        Args:
            about: the name under which it is written down.
            ask: puts the messages to `chat_model`, with what belongs to the frame.
            messages: all so far.
            frame: what goes with them each time, as plain data: the system prompt, the schemas of tools.
            in_words: gives the same messages with words in the place of pictures, for a model that takes
                none; by default a picture is only said to be there.
            replies: of the conversation so far; is added to. By default they have no limit.

        Raises:
            BudgetExceeded: it may cost more than is left; nothing was sent.
            ModelUnavailable: the model cannot be asked.
            MindFailed: it refused, or its replies were cut off or unreadable each time.
            OutOfReplies: as many have come as may.
        """
        return ask_next_message(self._client, about, ask, messages, frame, in_words, replies or Replies())

    def _model_call(self, client: ModelClient, prompt: Prompt[ReplyT], question: Question) -> ModelCall:
        """Return the function that asks the model for a prompt's reply type; one is kept for each schema."""
        schema = question.schema if question.held else None
        kind = json.dumps([prompt.reply.__qualname__, prompt.stop, schema])
        if kind not in self._calls:
            # a schema with the options of one question hardly comes again
            if len(self._calls) >= _MOST_CALLS_KEPT:
                self._calls.clear()
            self._calls[kind] = make_model_call(client.model, client.name, prompt, client.manner, schema)
        return self._calls[kind]
