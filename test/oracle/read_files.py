"""Prints as JSON what TensorFlow reads of a checkpoint prefix, a model directory or record files.

`python read_files.py bundle PREFIX`, `... model DIR`, `... records FILE [SNAPPY]`; tensorflow.test.ts calls it.
"""
import base64
import json
import sys

import numpy as np
import tensorflow as tf


def encode(value):
  value = np.asarray(value)
  if value.dtype == object:
    data = [base64.b64encode(v).decode() for v in value.reshape(-1)]
    return {"dtype": "string", "shape": list(value.shape), "data": data}
  raw = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
  return {"dtype": str(value.dtype), "shape": list(value.shape), "data": raw}


def bundle(path):
  reader = tf.train.load_checkpoint(path)
  names = sorted(reader.get_variable_to_shape_map(), key=lambda name: name.encode())
  return [{"name": name, **encode(reader.get_tensor(name))} for name in names]


kind, path, *rest = sys.argv[1:]
if kind == "bundle":
  result = bundle(path)
elif kind == "model":
  state = tf.train.get_checkpoint_state(path)
  every = list(state.all_model_checkpoint_paths)
  result = {"latest": state.model_checkpoint_path, "all": every, "tensors": bundle(path)}
else:
  dataset = tf.data.TFRecordDataset(path, compression_type=rest[0] if rest else None)
  result = [base64.b64encode(record).decode() for record in dataset.as_numpy_iterator()]
print(json.dumps(result))
