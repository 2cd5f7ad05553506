"""The kinds of models: which code stands behind the `kind` of a model file.

Nothing is imported before it is asked for. Other packages add kinds by the entry-point group
`virl.model_kinds`: the name is the kind, the object a `Kind`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from virl.errors import BadInput, ModelUnavailable, UnknownName

Role = Literal["describer", "detector", "lexicon", "matcher", "reader", "recognizer"]
"""What a model is for. All but the lexicon, which detectors share, are protocols of `base`."""

PLUGINS = "virl.model_kinds"
"""The entry-point group of kinds that come with other packages."""

_HERE = "virl.platform.perception"


@dataclass(frozen=True, slots=True)
class Kind:
    """The code behind one `kind`."""

    role: Role
    settings: str
    """`"module:Class"` of what its model files hold, a `ModelSettings`."""
    opener: str
    """`"module:function"` from those settings and a `Models` to the model, without loading its weights."""


KINDS: Mapping[str, Kind] = {
    "chat-describer": Kind(
        "describer",
        f"{_HERE}.describers.chat:ChatDescriberSettings",
        f"{_HERE}.describers.chat:open_chat_describer",
    ),
    "clip-proposals": Kind(
        "detector",
        f"{_HERE}.detectors.clip_proposals:ClipProposalsSettings",
        f"{_HERE}.detectors.clip_proposals:open_clip_proposals",
    ),
    "grounding-dino": Kind(
        "detector",
        f"{_HERE}.detectors.grounding_dino:GroundingDinoSettings",
        f"{_HERE}.detectors.grounding_dino:open_grounding_dino",
    ),
    "grounding-dino-py": Kind(
        "detector",
        f"{_HERE}.detectors.grounding_dino_py:GroundingDinoPySettings",
        f"{_HERE}.detectors.grounding_dino_py:open_grounding_dino_py",
    ),
    "hf-describer": Kind(
        "describer",
        f"{_HERE}.describers.hugging_face:HfDescriberSettings",
        f"{_HERE}.describers.hugging_face:open_hf_describer",
    ),
    "huggingface-clip": Kind(
        "recognizer",
        f"{_HERE}.recognizers.hugging_face:HuggingFaceClipSettings",
        f"{_HERE}.recognizers.hugging_face:open_huggingface_clip",
    ),
    "lightglue": Kind(
        "matcher",
        f"{_HERE}.matchers.lightglue:LightGlueSettings",
        f"{_HERE}.matchers.lightglue:open_lightglue",
    ),
    "openclip": Kind(
        "recognizer",
        f"{_HERE}.recognizers.openclip:OpenClipSettings",
        f"{_HERE}.recognizers.openclip:open_openclip",
    ),
    "owlv2": Kind("detector", f"{_HERE}.detectors.owl:OwlSettings", f"{_HERE}.detectors.owl:open_owl"),
    "owlvit": Kind("detector", f"{_HERE}.detectors.owl:OwlSettings", f"{_HERE}.detectors.owl:open_owl"),
    "paddleocr": Kind(
        "reader", f"{_HERE}.readers.paddle:PaddleOcrSettings", f"{_HERE}.readers.paddle:open_paddleocr"
    ),
    "rapidocr": Kind(
        "reader", f"{_HERE}.readers.rapidocr:RapidOcrSettings", f"{_HERE}.readers.rapidocr:open_rapidocr"
    ),
    "sift": Kind("matcher", f"{_HERE}.matchers.sift:SiftSettings", f"{_HERE}.matchers.sift:open_sift"),
    "sign-describer": Kind(
        "describer",
        f"{_HERE}.describers.signs:SignDescriberSettings",
        f"{_HERE}.describers.signs:open_sign_describer",
    ),
    "sign-detector": Kind(
        "detector", f"{_HERE}.signs:SignDetectorSettings", f"{_HERE}.signs:open_sign_detector"
    ),
    "sign-lexicon": Kind("lexicon", f"{_HERE}.lexicon:LexiconSettings", f"{_HERE}.lexicon:open_lexicon"),
    "simulated": Kind(
        "detector",
        f"{_HERE}.simulated.noise:SimulatedSettings",
        f"{_HERE}.simulated.detector:open_simulated",
    ),
}
"""The kinds that come with virl, sorted."""


def find_kind(name: str) -> Kind:
    """The kind of this name, virl's own or a plug-in's.

    Raises:
        UnknownName: there is none.
        ModelUnavailable: a plug-in cannot be imported.
        BadInput: a plug-in's entry point is no `Kind`, or two packages give the same kind.
    """
    if name in KINDS:
        return KINDS[name]
    found = [plugin for plugin in entry_points(group=PLUGINS) if plugin.name == name]
    if not found:
        raise UnknownName("kind of model", name, kind_names())
    if len(found) > 1:
        raise BadInput(f"kind {name!r} is given by {' and '.join(map(_giver, found))}: uninstall one of them")
    return _load(found[0])


def kind_names() -> list[str]:
    """All kinds, sorted, those of plug-ins included."""
    return sorted({*KINDS, *(plugin.name for plugin in entry_points(group=PLUGINS))})


def resolve(reference: str) -> Any:
    """The object that `"module:name"` names.

    Raises:
        ModelUnavailable: it cannot be imported.
    """
    module, _, name = reference.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as fault:
        raise ModelUnavailable(f"{reference} cannot be imported ({fault}): install what it needs") from fault


def _load(plugin: EntryPoint) -> Kind:
    try:
        kind = plugin.load()
    except (ImportError, AttributeError) as fault:
        raise ModelUnavailable(
            f"kind {plugin.name!r} of {_giver(plugin)} cannot be imported ({fault}): update or uninstall it"
        ) from fault
    if not isinstance(kind, Kind):
        raise BadInput(f"kind {plugin.name!r} of {_giver(plugin)}: {plugin.value} is no Kind")
    return kind


def _giver(plugin: EntryPoint) -> str:
    return plugin.dist.name if plugin.dist else "an unnamed package"
