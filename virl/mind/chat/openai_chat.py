"""OpenAI's chat models, and others behind the same API; streamed replies are read as whole ones."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import httpx
import openai
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import _handle_openai_api_error, _handle_openai_bad_request

from virl.mind.chat.answers import MOST_CALLS, THOUGHTS, JsonObject, as_object
from virl.mind.chat.asking import Adapting, arrange_messages

_TEXT_FIELDS = ("content", "refusal", "reasoning_content", "reasoning")
"""Names of the fields of a message whose text arrives in pieces when a reply is streamed."""
_JSON = "application/json"


class OpenAIChat(Adapting, ChatOpenAI):
    """A chat model behind OpenAI's chat completions API, at OpenAI or on another server.

    A reply that streams is put together as the server would have sent it whole, so that damages of both are
    judged alike. With `streaming`, callbacks are told of its pieces.
    """

    adapts: ClassVar[frozenset[str]] = Adapting.adapts | {"max_completion_tokens", "stream", "stream_options"}

    def _should_stream(self, **kwargs: Any) -> bool:  # noqa: ARG002 - as LangChain calls it
        """Return whether LangChain shall stream: never, since `_generate` does so itself."""
        return False

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return a request's JSON, with the older name of the token limit if the server knows no other."""
        payload: dict[str, Any] = super()._get_request_payload(*args, **kwargs)
        if "max_completion_tokens" in self._lacks and "max_completion_tokens" in payload:
            payload["max_tokens"] = payload.pop("max_completion_tokens")
        return payload

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """Return LangChain's chat result for the messages; callbacks are told of each streamed piece."""
        payload = self._get_request_payload(arrange_messages(messages, self._lacks), stop=stop, **kwargs)
        # OpenAI's newer API: LangChain reads its replies
        if self._use_responses_api(payload):
            return super()._generate(messages, stop, run_manager, **kwargs)
        # it is said below whether the reply is streamed
        payload.pop("stream", None)
        try:
            if not self.streaming or "stream" in self._lacks:
                return self._create_chat_result(_json_of(self.client.with_raw_response.create(**payload)))
            counts = self.stream_usage and "stream_options" not in self._lacks
            usage = {"stream_options": {"include_usage": True}} if counts else {}
            reply = self.client.with_raw_response.create(**payload, **usage, stream=True)
            if reply.headers.get("content-type", "").startswith(_JSON):  # it does not stream
                reply.http_response.read()
                return self._create_chat_result(_json_of(reply))
            return self._create_chat_result(_join_chunks(reply.parse(), run_manager))
        except openai.BadRequestError as fault:
            _handle_openai_bad_request(fault)  # raises one of LangChain's kinds
            raise
        except openai.APIError as fault:
            _handle_openai_api_error(fault)
            raise

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        """Return LangChain's chat result for a server's reply, corrected where LangChain misreads it."""
        if isinstance(response, dict):
            if response.get("error"):  # with status 200, as some servers send them
                error = response["error"]
                told = error.get("message") if isinstance(error, Mapping) else error
                body = error if isinstance(error, Mapping) else {"message": str(error)}
                # the client has another httpx, and needs its field alone
                request: Any = httpx.Request("POST", "http://server")
                raise openai.APIError(str(told), request, body=body)
            choices = response.get("choices")
            if not isinstance(choices, list) or not choices:
                raise ValueError("the reply holds no choices")
            message = choices[0].get("message")
            if not isinstance(message, dict) or message.get("role") != "assistant":
                raise ValueError("the reply has no message of the role assistant")
            response = response | {"choices": [choices[0] | {"message": _with_text_arguments(message)}]}
            response["usage"] = _normalize_usage(response.get("usage"))
            result = super()._create_chat_result(response, generation_info)
            if thoughts := message.get("reasoning_content") or message.get("reasoning"):
                result.generations[0].message.additional_kwargs[THOUGHTS] = thoughts
            return result
        return super()._create_chat_result(response, generation_info)


def _json_of(reply: Any) -> Any:
    """Return the JSON object in the body of an OpenAI client's raw reply; else raise `ValueError`."""
    text = reply.http_response.text
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"the reply is no JSON object: {text[:100]}")  # noqa: TRY004 - it is what came
    return found


def _normalize_usage(usage: Any) -> Any:
    """Return token counts as whole numbers; `None` without a count of input, where LangChain would read 0."""
    if not (isinstance(usage, dict) and usage.get("prompt_tokens") is not None):
        return None
    whole = {name: int(told) for name, told in usage.items() if isinstance(told, float) and told.is_integer()}
    return usage | whole


def _with_text_arguments(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message whose tool calls have their arguments as text, as LangChain reads them.

    The text is JSON of an object, or whatever else the server sent.
    """
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message | {"tool_calls": None}
    told = []
    for call in calls[: MOST_CALLS + 1]:  # one more than are carried out shows that there are too many
        if isinstance(call, dict):
            function = call.get("function")
            function = function if isinstance(function, dict) else {}
            given = as_object(function.get("arguments"))
            text = json.dumps(given) if isinstance(given, dict) else given
            named = {"name": str(function.get("name") or ""), "arguments": text}
            told.append(call | {"function": function | named})
    return message | {"tool_calls": told}


def _join_chunks(chunks: Iterable[Any], run_manager: CallbackManagerForLLMRun | None) -> JsonObject:
    """Return one reply, as JSON, put together from streamed chunks; it has no choices if no chunk has one.

    `run_manager`, if any, is told of each piece of text.
    """
    whole: JsonObject = {"choices": []}
    message: JsonObject = {}
    calls: dict[Any, JsonObject] = {}
    choice: JsonObject = {"index": 0, "message": message, "finish_reason": None}
    for chunk in chunks:
        told = chunk.model_dump(warnings=False)
        whole |= {name: told[name] for name in ("id", "model", "usage") if told.get(name)}
        for one in told.get("choices") or ():
            whole["choices"] = [choice]
            delta = one.get("delta") or one.get("message") or {}
            choice["finish_reason"] = one.get("finish_reason") or choice["finish_reason"]
            if delta.get("role"):
                message["role"] = delta["role"]
            for name in _TEXT_FIELDS:
                if isinstance(delta.get(name), str):
                    message[name] = (message.get(name) or "") + delta[name]
            for piece in delta.get("tool_calls") or ():
                _add_piece(calls, piece)
            if run_manager:
                text = delta.get("content")
                run_manager.on_llm_new_token(text if isinstance(text, str) else "")
    if whole["choices"] and not choice["finish_reason"]:
        raise ConnectionError("the reply broke off in its stream")
    if calls:
        message["tool_calls"] = list(calls.values())
    return whole


def _add_piece(calls: dict[Any, JsonObject], piece: Mapping[str, Any]) -> None:
    """Add a streamed piece to the call of its index in `calls`, or begin a new one if id or name differs."""
    function, at = piece.get("function") or {}, piece.get("index")
    same = [key for key in calls if key[0] == at]
    last = calls[same[-1]] if same else None
    other_id = last and last["id"] and piece.get("id") not in (None, "", last["id"])
    if last is None or other_id or (function.get("name") and last["function"]["arguments"]):
        if len(calls) > MOST_CALLS:
            return
        last = {"id": piece.get("id"), "type": "function", "function": {"name": "", "arguments": ""}}
        calls[(at, len(calls))] = last
    held = last["function"]
    last["id"] = last["id"] or piece.get("id")
    held["name"] += function.get("name") or ""
    given = function.get("arguments") or ""
    held["arguments"] += given if isinstance(given, str) else json.dumps(given)
