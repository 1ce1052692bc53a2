"""The translators."""
