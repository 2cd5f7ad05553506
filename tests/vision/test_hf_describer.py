import pytest
from tiny_llava import FIRST_WORDS, IMAGE, SPECIAL, tiny_llava

from virl.errors import BadInput, ModelUnavailable
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.describers.hf_describer import HfDescriberSettings, open_hf_describer
from virl.platform.perception.models import ModelOptions, Models, read_model

for package in ("torch", "transformers"):
    pytest.importorskip(package, reason=f"needs {package}: make test-vision")

WORDS = [*FIRST_WORDS, "what", "is", "there", "a", "noodle", "shop", *(f"word{i}" for i in range(60))]


@pytest.fixture(scope="module")
def llava(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llava")
    model, processor = tiny_llava(WORDS)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _qformer(folder, kind):
    """BLIP-2 or InstructBLIP over a T5 of one layer, without a chat template."""
    import torch
    import transformers as hf
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token=WORDS[3]))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = hf.PreTrainedTokenizerFast(
        tokenizer_object=words, additional_special_tokens=[WORDS[IMAGE]], model_max_length=64, **SPECIAL
    )
    small = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    t5 = hf.T5Config(
        vocab_size=len(WORDS), d_model=32, d_kv=16, d_ff=32, num_layers=1, num_heads=2,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=2,
    )  # fmt: skip
    name = {"blip-2": "Blip2", "instructblip": "InstructBlip"}[kind]
    config, model, processor, vision, qformer = (
        getattr(hf, f"{name}{part}")
        for part in ("Config", "ForConditionalGeneration", "Processor", "VisionConfig", "QFormerConfig")
    )
    torch.manual_seed(0)
    made = model(
        config(
            vision_config=vision(**small, image_size=32, patch_size=16).to_dict(),
            qformer_config=qformer(**small, encoder_hidden_size=32, vocab_size=len(WORDS)).to_dict(),
            text_config=t5.to_dict(),
            num_query_tokens=4,
            image_token_index=IMAGE,
        )
    )
    for weights in made.parameters():
        if weights.ndim > 1:
            torch.nn.init.normal_(weights, std=0.4)
    made.save_pretrained(folder)
    images = hf.BlipImageProcessor(size={"height": 32, "width": 32})
    more = {"qformer_tokenizer": tokenizer} if kind == "instructblip" else {}
    processor(images, tokenizer, num_query_tokens=4, **more).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=["blip-2", "instructblip"])
def qformer(request, tmp_path_factory):
    return _qformer(tmp_path_factory.mktemp(request.param), request.param)


def test_a_model_without_a_chat_template_is_asked_by_the_template_of_its_file(qformer, make_view):
    def opened(**changes):
        settings = HfDescriberSettings(
            kind="hf-describer", weights=str(qformer), prompt="what is there", question_prompt="{question}",
            max_new_tokens=8, **{"batch": 2, **changes},
        )  # fmt: skip
        return open_hf_describer(settings, Models(ModelOptions(device="cpu")))

    views = [make_view(seed) for seed in range(3)]
    with pytest.raises(ModelUnavailable, match="has no chat template: say in the model's file how") as fault:
        opened().describe(views)
    assert "\n" not in str(fault.value)
    asked = opened(template="so {prompt} is")
    said = asked.describe(views, "a noodle shop")
    assert len(said) == 3
    assert all(line and set(line.split()) <= set(WORDS) for line in said)
    assert said == [
        opened(template="so {prompt} is", batch=1).describe([view], "a noodle shop")[0] for view in views
    ]
    half = opened(template="so {prompt} is", precision="bfloat16").describe(views, "a noodle shop")
    assert all(half)


@pytest.mark.parametrize("name", ["blip2", "instructblip", "llava-1.5-7b", "llava-1.5-13b"])
def test_the_papers_models_are_asked_a_question_as_it_is(name):
    settings = read_model("describer", name)
    assert settings.question_prompt == "{question}"
    assert "V-IRL, table 4: VQA" in settings.paper


def test_llava_is_asked_by_a_template_too(describer, make_view):
    views = [make_view(seed) for seed in range(3)]
    said = describer(template="<image> {prompt} so", question_prompt="{question}").describe(views, "what")
    assert said == describer(question_prompt="{question}").describe(views, "what")


@pytest.fixture
def describer(llava):
    def open_it(**changes):
        values = {
            "kind": "hf-describer",
            "weights": str(llava),
            "prompt": "what is there",
            "question_prompt": "what {question} is there",
            "max_new_tokens": 8,
            "batch": 2,
        }
        return open_hf_describer(
            HfDescriberSettings(**{**values, **changes}), Models(ModelOptions(device="cpu"))
        )

    return open_it


def test_each_view_is_described_on_one_line_by_new_words_only(describer, make_view):
    views = [make_view(seed) for seed in range(5)]
    said = describer().describe(views)
    assert len(said) == 5
    assert len(set(said)) > 1
    for line in said:
        words = line.split()
        assert 0 < len(words) <= 8
        assert set(words) <= set(WORDS) - {"<pad>", "<s>", "</s>", "<image>"}
        assert not line.startswith("what is there")


def test_a_batch_says_what_one_view_after_the_other_says(describer, make_view):
    views = [make_view(1), make_view(2, 64, 64), make_view(3), make_view(4), make_view(5)]
    assert describer(batch=4).describe(views) == [describer(batch=1).describe([view])[0] for view in views]


def test_the_question_reaches_the_model_and_nothing_asked_is_the_plain_prompt(describer, make_view):
    view = make_view(1)
    plain = describer().describe([view])
    assert describer().describe([view], "  ") == plain
    assert describer().describe([view], "a noodle shop") != plain
    assert describer(prompt="what a noodle shop is there").describe([view]) == describer().describe(
        [view], "a noodle shop"
    )


def test_answers_repeat_and_are_cut_off_where_asked(describer, make_view):
    view = make_view(1)
    long = describer().describe([view])[0].split()
    assert describer().describe([view])[0].split() == long
    assert describer(max_new_tokens=3).describe([view])[0].split() == long[:3]


def test_no_views_need_no_weights(describer):
    assert describer(weights="not/there").describe([]) == []


def test_bad_pictures_are_refused(describer):
    with pytest.raises(BadInput):
        describer().describe([View("p", Camera(0), "photo.jpg")])


def test_a_checkpoint_of_another_kind_is_named(describer, make_view, owlv2):
    with pytest.raises(ModelUnavailable, match=r"type owlv2.*pictures and text into text"):
        describer(weights=str(owlv2)).describe([make_view(1)])


def test_a_model_without_a_chat_template_is_refused(describer, make_view, llava, tmp_path):
    import shutil

    folder = tmp_path / "plain"
    shutil.copytree(llava, folder)
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(ModelUnavailable, match="no chat template"):
        describer(weights=str(folder)).describe([make_view(1)])


def test_a_prompt_without_its_question_is_refused(describer):
    with pytest.raises(ValueError, match="question"):
        describer(question_prompt="what is there")
