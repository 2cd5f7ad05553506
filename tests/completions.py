"""Answers of the completions endpoint, for `ChatServer`."""

from openai_server import Behaviour


def completion(written: str, finish: str = "stop", *, input_tokens: int = 100) -> Behaviour:
    """A text completion."""
    usage = {"prompt_tokens": input_tokens, "completion_tokens": 10, "total_tokens": input_tokens + 10}
    choice = {"index": 0, "text": written, "finish_reason": finish, "logprobs": None}
    body = {"id": "1", "object": "text_completion", "created": 0, "model": "test", "choices": [choice]}
    return Behaviour(body=body | {"usage": usage})
