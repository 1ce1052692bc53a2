"""Sentences with negators, for the last stage of the classifier."""
