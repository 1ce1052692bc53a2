"""The writer, a GPT-2 that continues film reviews."""
