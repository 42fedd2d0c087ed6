"""What the Python peers share: reading ctr-ref files, which bench/ctr-ref-files.ts draws, AUC, the line of a result."""
import json
import os
import resource
import sys

CATEGORIES, DENSE, HEADER_BYTES, VOCABULARY = 26, 13, 64, 5_000_000
# Slots that play slots 0 to 5 of the FFM model, and its pairs.
FFM_SLOTS = [14, 3, 23, 9, 25, 6]
FFM_PAIRS = [(0, 3), (0, 4), (1, 5), (2, 3), (2, 5)]


def skip(system, model, reason):
    """Says that a peer is missing and ends: the run goes on without it."""
    print(json.dumps(dict(system=system, model=model, skipped=reason)))
    sys.exit(0)


def need(system, model, *modules):
    """Imports the modules, or skips the peer."""
    import importlib

    try:
        return [importlib.import_module(name) for name in modules]
    except ImportError as error:
        skip(system, model, str(error))


def report(system, model, labels, scores, max_rss_kb=None, **fields):
    rss = max_rss_kb or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = dict(system=system, model=model, **fields, peak_rss_mb=round(rss / 1024), auc=round(auc(labels, scores), 4))
    print(json.dumps(line))


def auc(labels, scores):
    order = sorted(range(len(scores)), key=scores.__getitem__)
    positives = sum(1 for label in labels if label > 0.5)
    rank_sum = sum(rank + 1 for rank, i in enumerate(order) if labels[i] > 0.5)
    return (rank_sum - positives * (positives + 1) / 2) / (positives * (len(labels) - positives))


class Data:
    """Reads batches from the files, nothing kept in memory. `ids` is 'static' for given rows, 'dict' for raw ids."""

    def __init__(self, folder, name, ids='static'):
        import numpy

        self.np = numpy
        self.files = [open(f'{folder}/{name}.bin', 'rb'), open(f'{folder}/{name}.rows', 'rb')]
        self.ids = ids
        self.count = int(self._read(0, numpy.uint32, 1, 8)[0])

    def _read(self, file, kind, count, offset):
        size = self.np.dtype(kind).itemsize
        return self.np.frombuffer(os.pread(self.files[file].fileno(), size * count, offset), kind)

    def batch(self, first, count):
        labels_at = HEADER_BYTES
        dense_at = labels_at + 4 * self.count
        ids_at = dense_at + 4 * self.count * DENSE
        labels = self._read(0, self.np.float32, count, labels_at + 4 * first)
        dense = self._read(0, self.np.float32, count * DENSE, dense_at + 4 * first * DENSE)
        if self.ids == 'static':
            keys = self._read(1, self.np.uint32, count * CATEGORIES, 4 * first * CATEGORIES).astype(self.np.int64)
        else:
            keys = self._read(0, self.np.int64, count * CATEGORIES, ids_at + 8 * first * CATEGORIES)
        return labels.copy(), dense.reshape(count, DENSE).copy(), keys.reshape(count, CATEGORIES)

    def all(self):
        return self.batch(0, self.count)
