"""Captures files that TensorFlow writes into test/fixtures/oracle/files.json: tensor bundles and record files.

Run by hand with a Python that has TensorFlow 2.x and NumPy: `python test/oracle/make_files.py`. The tests read the file
and need neither.
"""
import base64
import json
import os
import tempfile

import numpy as np
import tensorflow as tf

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "oracle", "files.json")
TENSORS = {
    "dense/kernel": np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4),
    "dense/bias": np.asarray([np.nan, np.inf, -0.0, 1e-40], np.float32),
    "double": np.asarray([[1 / 3], [2 / 3]], np.float64),
    "int32": np.asarray([-(2**31), 2**31 - 1], np.int32),
    "global_step": np.asarray(2**40 + 7, np.int64),
    "uint8": np.arange(256, dtype=np.uint8),
    "bool": np.asarray([True, False, True]),
    "empty": np.zeros([0, 5], np.float32),
    "names": np.asarray([[b"", b"a"], ["größe".encode(), b"x" * 300]], object),
}
HALF = np.asarray([1.5, -2.0], np.float16)


def entries(tensors):
  result = []
  for name, value in tensors.items():
    value = np.asarray(value)
    raw = [base64.b64encode(each).decode() for each in value.reshape(-1)] if value.dtype == object else \
        base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    dtype = "string" if value.dtype == object else str(value.dtype)
    result.append({"name": name, "dtype": dtype, "shape": list(value.shape), "data": raw})
  return result


def save(prefix, tensors, slices=None):
  names = list(tensors)
  tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=slices or [""] * len(names),
                    tensors=[tf.constant(tensors[name]) for name in names])


def files_of(home):
  return {name: base64.b64encode(open(os.path.join(home, name), "rb").read()).decode()
          for name in sorted(os.listdir(home)) if os.path.isfile(os.path.join(home, name)) and name != "checkpoint"}


bundles = []


def bundle(what, write, tensors):
  with tempfile.TemporaryDirectory() as home:
    write(os.path.join(home, "model.ckpt-1"))
    bundles.append({"what": what, "files": files_of(home), "tensors": entries(tensors)})


def two_shards(prefix):
  names = list(TENSORS)
  parts = [f"{prefix}_part{i}" for i in range(2)]
  for i, part in enumerate(parts):
    save(part, {name: TENSORS[name] for name in names[i::2]})
  tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix, delete_old_dirs=False)
  for part in parts:
    for name in os.listdir(os.path.dirname(prefix)):
      if name.startswith(os.path.basename(part)):
        os.remove(os.path.join(os.path.dirname(prefix), name))


whole = np.arange(5 * 6, dtype=np.float32).reshape(5, 6)


def partitioned(prefix):
  parts = [("0,2:-", whole[:2]), ("2,3:0,4", whole[2:, :4]), ("2,3:4,2", whole[2:, 4:]), (None, TENSORS["int32"])]
  tf.raw_ops.SaveV2(
      prefix=prefix, tensor_names=["emb"] * 3 + ["int32"],
      shape_and_slices=[f"5 6 {spec}" if spec else "" for spec, _ in parts],
      tensors=[tf.constant(np.ascontiguousarray(value)) for _, value in parts])


many = {f"layer_{i // 10}/unit_{i}/kernel": np.asarray([i, -i], np.float32) for i in range(120)}
bundle("every element type that is read", lambda prefix: save(prefix, TENSORS), TENSORS)
bundle("two data files", two_shards, TENSORS)
bundle("an index of several blocks", lambda prefix: save(prefix, many), many)
bundle("a partitioned variable", partitioned, {"emb": whole, "int32": TENSORS["int32"]})
bundle("a half beside floats", lambda prefix: save(prefix, {"half": HALF, "x": TENSORS["dense/kernel"]}),
       {"x": TENSORS["dense/kernel"]})

payloads = [b"", b"one", bytes(range(256)) * 5, "größe".encode()]
records = {}
for kind, options in (("plain", None), ("snappy", "SNAPPY"), ("gzip", "GZIP")):
  with tempfile.TemporaryDirectory() as home:
    path = os.path.join(home, "records")
    if kind == "snappy":
      data = tf.data.Dataset.from_tensor_slices(payloads)
      tf.raw_ops.DatasetToTFRecord(input_dataset=data._variant_tensor, filename=path, compression_type=options)
    else:
      with tf.io.TFRecordWriter(path, options=options) as writer:
        for payload in payloads:
          writer.write(payload)
    records[kind] = base64.b64encode(open(path, "rb").read()).decode()

with open(OUT, "w", encoding="utf8") as file:
  json.dump({"tensorflow": tf.__version__, "bundles": bundles, "records": records,
             "payloads": [base64.b64encode(each).decode() for each in payloads]}, file, indent=1)
  file.write("\n")
print([(each["what"], list(each["files"])) for each in bundles], {kind: len(each) for kind, each in records.items()})
