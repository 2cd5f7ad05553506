"""A LLaVA of one layer each, whose vocabulary is a few words."""

from collections.abc import Sequence
from typing import Any

TEMPLATE = (
    "{% for message in messages %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image> {% else %}{{ part['text'] }} {% endif %}"
    "{% endfor %}{% endfor %}{% if add_generation_prompt %}so{% endif %}"
)
FIRST_WORDS = ["<pad>", "<s>", "</s>", "<unk>", "<image>", "so"]
END, IMAGE = FIRST_WORDS.index("</s>"), FIRST_WORDS.index("<image>")
SPECIAL = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}


def tiny_llava(words: Sequence[str]) -> tuple[Any, Any]:
    """A model with random weights and its processor.

    Args:
        words: of the vocabulary, `FIRST_WORDS` first.
    """
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        PreTrainedTokenizerFast,
    )

    assert list(words[: len(FIRST_WORDS)]) == FIRST_WORDS
    known = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(words)}, unk_token=SPECIAL["unk_token"])
    )
    known.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=known,
        additional_special_tokens=[words[IMAGE]],
        **SPECIAL,
    )
    small = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    torch.manual_seed(0)
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**small, image_size=32, patch_size=16, projection_dim=32),
        text_config=LlamaConfig(
            **small,
            num_key_value_heads=2,
            vocab_size=len(words),
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=END,
        ),
        image_token_index=IMAGE,
        vision_feature_layer=-1,
    )
    model = LlavaForConditionalGeneration(config)
    for weights in model.parameters():
        if weights.ndim > 1:
            torch.nn.init.normal_(weights, std=0.4)
    size = {"height": 32, "width": 32}
    processor = LlavaProcessor(
        CLIPImageProcessor(size=size, crop_size=size),
        tokenizer,
        patch_size=16,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE,
        image_token=words[IMAGE],
        num_additional_image_tokens=1,
    )
    return model, processor
