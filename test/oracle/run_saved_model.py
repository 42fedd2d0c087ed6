"""Prints as JSON what TensorFlow computes of an exported model.

`python run_saved_model.py DIR FILE`, where FILE has {"examples": [base64 of tensorflow.Example, ...]}: the outputs of
serving_default, those of raw, fed with what the examples are parsed to, and the signatures.
saved-model.test.ts calls it.
"""
import base64
import json
import sys

import numpy as np
import tensorflow as tf


def plain(outputs):
  return {name: [float(v) if np.isfinite(v) else str(v) for v in np.asarray(value, np.float64).reshape(-1)]
          for name, value in outputs.items()}


def shape(info):
  return [-1 if size is None else size for size in info.shape.as_list()]


folder, path = sys.argv[1:]
with open(path) as file:
  given = json.load(file)
records = [base64.b64decode(text) for text in given["examples"]]
loaded = tf.saved_model.load(folder)
serving, raw = loaded.signatures["serving_default"], loaded.signatures["raw"]
inputs = raw.structured_input_signature[1]
others = ("_indices", "_values", "batch_size")
dense = {name: info for name, info in inputs.items() if not name.endswith(others)}
ragged = sorted(name[:-len("_indices")] for name in inputs if name.endswith("_indices"))
spec = {name: tf.io.VarLenFeature(tf.int64) for name in ragged}
spec.update({name: tf.io.FixedLenFeature(shape(info)[1:], info.dtype) for name, info in dense.items()})
parsed = tf.io.parse_example(records, spec)
feeds = {name: parsed[name] for name in dense}
for name in ragged:
  feeds[name + "_indices"], feeds[name + "_values"] = parsed[name].indices, parsed[name].values
feeds["batch_size"] = tf.constant(len(records), tf.int32)
print(json.dumps({
    "served": plain(serving(instances=tf.constant(records))),
    "raw": plain(raw(**feeds)),
    "signatures": sorted(loaded.signatures.keys()),
    "missing": plain(serving(instances=tf.constant([b""]))),
}))
