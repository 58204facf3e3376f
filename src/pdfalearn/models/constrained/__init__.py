"""Wrappers of language models that leave less to follow: guides, top-k, top-p, temperature."""
