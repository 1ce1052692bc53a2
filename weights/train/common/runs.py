"""Groups of equal values, from which all trainings make their batches."""
import numpy


def equal_runs(values):
    """Yields (begin, end) of each run of equal values in a sorted array of numbers that are not negative."""
    edges = numpy.flatnonzero(numpy.diff(values, prepend=-1))
    return zip(edges, [*edges[1:], len(values)])
