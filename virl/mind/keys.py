"""Where the keys of language models are: environment variables, by provider."""

from collections.abc import Mapping
from types import MappingProxyType

KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "anthropic": ("ANTHROPIC_API_KEY",),
        "azure_openai": ("AZURE_OPENAI_API_KEY",),
        "cohere": ("COHERE_API_KEY",),
        "deepseek": ("DEEPSEEK_API_KEY",),
        "fireworks": ("FIREWORKS_API_KEY",),
        "google_genai": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "groq": ("GROQ_API_KEY",),
        "mistralai": ("MISTRAL_API_KEY",),
        "nvidia": ("NVIDIA_API_KEY",),
        "openai": ("OPENAI_API_KEY",),
        "openai-completion": ("OPENAI_API_KEY",),
        "openrouter": ("OPENROUTER_API_KEY",),
        "perplexity": ("PPLX_API_KEY",),
        "together": ("TOGETHER_API_KEY",),
        "xai": ("XAI_API_KEY",),
    }
)
"""Environment variables that a provider's key is read from; any one of them will do."""
