"""Models that label texts for the classifier."""
