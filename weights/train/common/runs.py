"""Finds runs of equal lengths, from which batches are made."""
import numpy


def equal_runs(values):
    """Yields (begin, end) of each run of equal values in a sorted array of non-negative numbers."""
    edges = numpy.flatnonzero(numpy.diff(values, prepend=-1))
    return zip(edges, [*edges[1:], len(values)])
