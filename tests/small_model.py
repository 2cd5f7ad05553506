"""A random language model of some 100 kB, and llama.cpp's own server in a process of its own to serve it.

    with SmallModel(tmp_path) as model:
        mind = open_mind(f"openai:small{OPTIONS}", cache_dir=None, base_url=model.url)

What it says means nothing; llama.cpp holds it to the tools and schemas of a request, by grammars. A few rows
of its weights are not random: it mostly begins with a call where it has tools, its texts are short, and its
numbers mostly have one digit, so that its calls are whole.
"""

import subprocess
import sys
from pathlib import Path
from typing import Self

import numpy as np

OPTIONS = "?temperature=1&max_tokens=1500&pictures=false&price=1,1"
WIDTH, CONTEXT = 32, 65_536
TURN, CALL, END_OF_CALL, END = "<|turn|>", "<tool_call>", "</tool_call>", "<|im_end|>"
MARKS = ("<|im_start|>", END, TURN, CALL, END_OF_CALL)
TEMPLATE = f"""
{{%- if tools %}}<|im_start|>system
{{{{ tools | tojson }}}}
{CALL}{{"name": "NAME", "arguments": {{}}}}{END_OF_CALL}{END}
{{% endif %}}
{{%- for m in messages %}}
{{%- if m.role == "tool" %}}<|im_start|>user
<tool_response>{{{{ m.content }}}}</tool_response>{END}
{{% else %}}<|im_start|>{{{{ m.role }}}}
{{{{ m.content }}}}
{{%- for c in m.tool_calls or [] -%}}
{CALL}{{"name": "{{{{ c.function.name }}}}", "arguments": {{{{ c.function.arguments | tojson }}}}}}
{{{{- "{END_OF_CALL}" }}}}
{{%- endfor %}}{END}
{{% endif %}}
{{%- endfor %}}
{{%- if add_generation_prompt %}}<|im_start|>assistant
{TURN}{{% endif %}}"""


def write_model(file: Path, *, seed: int = 0, wild: bool = False) -> None:
    """Write a model as GGUF: a layer of Llama's architecture, whose tokens are bytes and `MARKS`.

    Args:
        file: to be written.
        seed: of the weights.
        wild: leaves numbers as long as they come, also beyond all that a float holds.
    """
    from gguf import GGUFWriter, TokenType

    letters = _letters_of_bytes()
    tokens = [*letters, *MARKS]
    writer = GGUFWriter(file, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(WIDTH)
    writer.add_rope_dimension_count(WIDTH)
    writer.add_block_count(1)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    kinds = [TokenType.CONTROL] * 3 + [TokenType.USER_DEFINED] * 2
    writer.add_token_types([TokenType.NORMAL] * len(letters) + kinds)
    writer.add_token_merges(["a b"])  # none is no list; this one is of no token
    writer.add_eos_token_id(tokens.index(END))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, weights in _weights(tokens, np.random.default_rng(seed), wild=wild).items():
        writer.add_tensor(f"{name}.weight", weights.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _weights(tokens: list[str], chance: np.random.Generator, *, wild: bool) -> dict[str, np.ndarray]:
    """Random weights; the first three dimensions pass the layer unchanged: always, a turn begins, a digit."""
    read, said = chance.normal(0, 0.5, (2, len(tokens), WIDTH))
    read[:, :3], said[:, :3] = (3, 0, 0), (-4, 0, 0)
    said[:, 3:] /= 2
    at = {token: number for number, token in enumerate(tokens)}
    digits = [at[one] for one in "0123456789"]
    said[[at[one] for one in "abcdefghijklmnopqrstuvwxyz{}[],:"] + digits, 0] = 0
    said[at["-"], 0] = -1
    said[at['"'], 0] = 0.7
    said[[at[END], at[END_OF_CALL]], 0] = 0.4
    read[at[TURN], 1], said[at[CALL], 1] = 12, 2.2
    if not wild:
        read[digits, 2], said[[*digits, at["."], at["e"]], 2] = 6, -2
    weights = {"token_embd": read, "output": said, "output_norm": np.ones(WIDTH)}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        weights[f"blk.0.{name}"] = chance.normal(
            0, 0.8 if name in ("attn_q", "attn_k") else 0.2, (WIDTH, WIDTH)
        )
    for name in ("attn_output", "ffn_down"):
        weights[f"blk.0.{name}"][:3] = 0
    return weights | {f"blk.0.{name}_norm": np.ones(WIDTH) for name in ("attn", "ffn")}


def _letters_of_bytes() -> list[str]:
    """The letters that GPT-2's tokenizer has for the bytes."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    return [chr(byte if byte in shown else 256 + others.index(byte)) for byte in range(256)]


class SmallModel:
    """A server of a small model on a free loopback port, until the `with` block ends."""

    def __init__(self, folder: Path, *, seed: int = 0, wild: bool = False) -> None:
        self._file = folder / f"small-{seed}-{wild}.gguf"
        self.url = ""
        """Base URL, such as `http://127.0.0.1:40123/v1`."""
        write_model(self._file, seed=seed, wild=wild)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(self._file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout
        self.url = f"{self._process.stdout.readline().strip()}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def serve(file: str) -> None:
    """Serve a model until standard input ends; prints the server's address."""
    import xllamacpp

    asked = xllamacpp.CommonParams()
    asked.model.path = file
    asked.n_ctx, asked.n_parallel, asked.port = CONTEXT, 1, 0
    asked.cpuparams.n_threads = 1
    asked.cache_prompt = False  # what it read before would change its numbers in their last digits
    server = xllamacpp.Server(asked)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1])
