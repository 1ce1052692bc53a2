"""The sentiment classifier."""
