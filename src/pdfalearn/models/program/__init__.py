"""Programs in any language as language models."""
