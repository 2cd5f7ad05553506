"""Typed replies: a reply that does not fit is asked for again, with the fault named."""

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import ValidationError

from virl.errors import MindFailed
from virl.mind.answers import excerpt, faults_in, read_reply
from virl.mind.base import Prompt, ReplyT
from virl.mind.cache import request_key
from virl.mind.chat.asking import Ask
from virl.mind.chat.client import ModelClient
from virl.mind.chat.endings import THOUGHTS_ALONE, is_all_thoughts, is_cut_off, is_empty, refusal_in
from virl.mind.chat.question import Question
from virl.mind.faults import LLMFault
from virl.mind.prompt import load_prompt
from virl.mind.rendering import render
from virl.mind.replies import Reply
from virl.mind.sending import RequestUsage

LONGEST_FAULT = 600  # letters of what was wrong with a reply that a model is told (chosen)


def valid_reply(
    client: ModelClient,
    ask: Ask,
    prompt: Prompt[ReplyT],
    question: Question,
    inputs: dict[str, object],
    tally: RequestUsage,
) -> ReplyT:
    """Return the reply to a question, asked for again with the fault named until it fits its type.

    Args:
        client: of the model.
        ask: sends messages.
        prompt: that is asked.
        question: as messages.
        inputs: of the prompt.
        tally: counts tokens and tries.

    Raises:
        BudgetExceeded: it may cost more than is left; nothing was sent.
        ModelUnavailable: the model cannot be reached.
        MindFailed: the model refused, was cut off, or gave no valid reply in all its tries.
    """
    sender = client.sender
    messages: list[BaseMessage] = list(question.messages)
    mend = load_prompt("mind/invalid-reply", Reply)
    replies = 0
    while True:
        answer = sender.send(ask, messages, tally, beside=question.schema_letters)
        replies += 1
        if refusal := refusal_in(answer):
            raise MindFailed(f"{client.name} refused to answer {prompt.name}: {sender.clean(refusal)}")
        if is_cut_off(answer) and is_empty(answer):
            sender.give_up(LLMFault.CUT_OFF, "it sent no text")
        try:
            return read_reply(answer, prompt, inputs)
        except ValidationError as invalid:
            fault = sender.clean(faults_in(invalid), LONGEST_FAULT)
        if is_cut_off(answer):
            sender.give_up(LLMFault.CUT_OFF, f"{prompt.name} got half a reply")
        if is_empty(answer):
            fault = THOUGHTS_ALONE.format(client.name) if is_all_thoughts(answer) else "it was empty"
        if replies > client.retries:
            raise MindFailed(
                f"{client.name} gave no valid reply to {prompt.name} in {replies} tries: {fault[:300]}"
            )
        messages = [
            *question.messages,
            AIMessage(content=excerpt(answer) or "(nothing)"),
            HumanMessage(content=render(mend, {"fault": fault, "fields": question.fields})),
        ]


def reply_key(client: ModelClient, prompt: Prompt[ReplyT], question: Question) -> str:
    """Return the key of a kept reply: it differs wherever what is sent differs.

    Args:
        client: of the model.
        prompt: that is asked.
        question: as messages.
    """
    request = {
        **client.request,
        "method": client.manner.method,
        "messages": question.parts(),
        "schema": question.schema,
        "held": question.held,
        "prompt": [prompt.orders, prompt.body],
    }
    return request_key(request | ({"stop": prompt.stop} if prompt.stop else {}))
