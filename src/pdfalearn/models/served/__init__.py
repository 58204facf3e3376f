"""Language models behind a server that speaks the protocol of OpenAI's completions."""
