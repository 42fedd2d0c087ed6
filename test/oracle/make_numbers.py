"""Captures what TensorFlow computes into test/fixtures/oracle/numbers.json.

Run by hand with a Python that has TensorFlow 2.x and NumPy: `python test/oracle/make_numbers.py`. The tests read the
file and need neither.
"""
import json
import os

import numpy as np
import tensorflow as tf

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "oracle", "numbers.json")
B = 6
random = np.random.default_rng(20)


def away(*shape):
  """Floats away from zero and one, where rectifiers and hinges have their corners."""
  return (random.choice([-1.0, 1.0], shape) * random.uniform(0.2, 0.9, shape)).astype(np.float32)


def plain(values):
  """Floats in as few digits as give the same float32."""
  return [float(np.format_float_positional(v, unique=True)) if np.isfinite(v) else str(v)
          for v in np.asarray(values, np.float32).reshape(-1)]


ops = []


def op(name, fn, feeds, weights=None, wrt=None, **args):
  """Output of fn and the gradients of mean over the batch of sum(output * factors)."""
  weights = weights or {}
  tensors = {key: tf.constant(value) for key, value in {**feeds, **weights}.items()}
  wrt = list(tensors) if wrt is None else wrt
  with tf.GradientTape() as tape:
    for key in wrt:
      tape.watch(tensors[key])
    out = fn(**tensors)
    flat = tf.reshape(out, [B, -1])
    factors = np.cos(np.arange(np.prod(flat.shape)) * 0.7).reshape(flat.shape).astype(np.float32)
    loss = tf.reduce_sum(flat * factors) / B
  grads = tape.gradient(loss, [tensors[key] for key in wrt])
  tensor = lambda value: {"shape": list(value.shape), "values": plain(value)}
  ops.append({
      "name": name,
      "args": args,
      "feeds": {key: tensor(value) for key, value in feeds.items()},
      "weights": {key: tensor(value) for key, value in weights.items()},
      "factors": plain(factors),
      "out": plain(out),
      "grads": {key: plain(grad) for key, grad in zip(wrt, grads)},
  })


def activations():
  x = 3 * away(B, 5)
  op("relu", lambda x: tf.nn.relu(x), {"x": x})
  op("sigmoid", lambda x: tf.nn.sigmoid(x), {"x": x})
  op("tanh", lambda x: tf.nn.tanh(x), {"x": x})
  op("gelu", lambda x: tf.nn.gelu(x), {"x": x})
  op("geluTanh", lambda x: tf.nn.gelu(x, approximate=True), {"x": x})
  op("swish", lambda x: tf.nn.silu(x), {"x": x})
  op("softplus", lambda x: tf.nn.softplus(x), {"x": x})
  op("leakyRelu", lambda x: tf.nn.leaky_relu(x, 0.2), {"x": x}, slope=0.2)
  op("prelu", lambda x, slope: tf.nn.relu(x) - slope * tf.nn.relu(-x), {"x": x}, {"slope": away(5)})
  large = np.linspace(-95, 95, B * 5, dtype=np.float32).reshape(B, 5)
  curves = {"sigmoid": tf.nn.sigmoid, "tanh": tf.nn.tanh, "softplus": tf.nn.softplus, "swish": tf.nn.silu}
  for name, fn in curves.items():
    op(name, lambda x, fn=fn: fn(x), {"x": large})
  op("softmax", lambda x: tf.nn.softmax(x), {"x": x})
  mask = np.asarray([[1, 1, 0, 1, 0]] * B, np.float32)
  op("softmaxMasked", lambda x, mask: tf.keras.layers.Softmax()(x, mask=mask > 0), {"x": x, "mask": mask}, wrt=["x"])
  op("l2Normalize", lambda x: tf.math.l2_normalize(x, axis=-1), {"x": x})
  def rounded(x):
    values, indices = tf.math.top_k(x, k=3)
    return tf.concat([values, tf.cast(indices, tf.float32)], -1)
  ties = np.round(x)
  op("topK", rounded, {"x": ties}, k=3)
  op("clipByValue", lambda x: tf.clip_by_value(x, -0.7, 1.1), {"x": x}, low=-0.7, high=1.1)


def norms():
  x = away(B, 5)
  for epsilon in (1e-3, 1e-6):
    def layer_norm(x, gain, bias):
      mean, variance = tf.nn.moments(x, [-1], keepdims=True)
      return tf.nn.batch_normalization(x, mean, variance, bias, gain, epsilon)
    op("layerNorm", layer_norm, {"x": x}, {"gain": away(5), "bias": away(5)}, epsilon=epsilon)
  layer = tf.keras.layers.LayerNormalization()
  op("layerNormDefault", lambda x: layer(x), {"x": x})
  for training in (True, False):
    layer = tf.keras.layers.BatchNormalization(momentum=0.9, center=False, scale=False)
    layer.build([B, 5])
    moving = {"moving_mean": away(5), "moving_variance": np.abs(away(5))}
    layer.set_weights(list(moving.values()))
    def batch_norm(x, gamma, beta):
      return layer(x, training=training) * gamma + beta
    op("batchNorm", batch_norm, {"x": x}, {"gamma": away(5), "beta": away(5)}, training=training, momentum=0.9,
       moving={key: plain(value) for key, value in moving.items()})
    ops[-1]["args"]["after"] = {key: plain(value) for key, value in zip(moving, layer.get_weights())}


def losses():
  x, y = 3 * away(B, 5), random.uniform(0, 1, (B, 5)).astype(np.float32)
  logit, label = 3 * away(B), np.asarray([0, 1, 1, 0, 1, 0], np.float32)
  large = np.asarray([-120, 120, 80, -80, 30, -3], np.float32)
  index = np.asarray([0, 4, 2, 1, 1, 3], np.float32)
  one = {"logits": logit, "labels": label}
  y /= y.sum(-1, keepdims=True)
  op("softmaxCrossEntropy", lambda logits, labels: tf.nn.softmax_cross_entropy_with_logits(labels, logits),
     {"logits": x, "labels": y}, wrt=["logits"])
  op("sparseSoftmaxCrossEntropy",
     lambda logits, labels: tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(labels, tf.int32), logits),
     {"logits": x, "labels": index}, wrt=["logits"])
  for values in (logit, large):
    op("sigmoidCrossEntropy", lambda logits, labels: tf.nn.sigmoid_cross_entropy_with_logits(labels, logits),
       {"logits": values, "labels": label}, wrt=["logits"])
    op("weightedCrossEntropy",
       lambda logits, labels: tf.nn.weighted_cross_entropy_with_logits(labels, logits, pos_weight=2.5),
       {"logits": values, "labels": label}, wrt=["logits"], posWeight=2.5)
  for gamma, alpha in ((2.0, 0.25), (1.5, None), (0.0, 0.6)):
    def focal(logits, labels):
      return tf.keras.losses.binary_focal_crossentropy(
          labels[:, None], logits[:, None], apply_class_balancing=alpha is not None, alpha=alpha or 0.5, gamma=gamma,
          from_logits=True)
    op("focal", focal, one, wrt=["logits"], gamma=gamma, alpha=alpha)
  op("hinge", lambda logits, labels: tf.keras.losses.hinge(labels[:, None], logits[:, None]), one, wrt=["logits"])
  op("squaredError", lambda logits, labels: tf.reduce_mean(tf.square(labels - logits), -1),
     {"logits": x, "labels": y}, wrt=["logits"])


def layers():
  heads, key_dim, n, d = 2, 3, 4, 5
  layer = tf.keras.layers.MultiHeadAttention(num_heads=heads, key_dim=key_dim)
  layer.build([B, n, d], [B, n, d])
  layer.set_weights([away(*weight.shape) for weight in layer.weights])
  names = [f"{part}/{kind}" for part in ("query", "key", "value", "output") for kind in ("kernel", "bias")]
  shapes = [[d, heads * key_dim], [heads * key_dim]] * 3 + [[heads * key_dim, d], [d]]
  arrays = [value.reshape(shape) for value, shape in zip(layer.get_weights(), shapes)]
  mask = np.asarray([[1, 1, 1, 0]] * B, np.float32)

  def attend(x, mask, **weights):
    """The layer's weights are set; the gradients of the given ones are taken by a composed form, which must agree."""
    def split(name):
      product = tf.einsum("bnd,de->bne", x, weights[f"{name}/kernel"]) + weights[f"{name}/bias"]
      return tf.reshape(product, [B, n, heads, key_dim])
    scores = tf.einsum("bqhd,bkhd->bhqk", split("query"), split("key")) / np.sqrt(key_dim)
    scores = tf.where(mask[:, None, None, :] > 0, scores, -1e30)
    mixed = tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores), split("value"))
    flat = tf.reshape(mixed, [B, n, heads * key_dim])
    out = tf.einsum("bnd,de->bne", flat, weights["output/kernel"]) + weights["output/bias"]
    whole = layer(x, x, attention_mask=tf.repeat(mask[:, None, :] > 0, n, axis=1))
    np.testing.assert_allclose(out, whole, rtol=1e-4, atol=1e-5)
    return out
  x = away(B, n, d)
  op("multiHeadAttention", attend, {"x": x, "mask": mask}, dict(zip(names, arrays)), wrt=["x", *names], heads=heads,
     keyDim=key_dim)

  def cin(x, kernel_0, kernel_1):
    maps, pooled = x, []
    for kernel in (kernel_0, kernel_1):
      pairs = tf.reshape(tf.einsum("bld,brd->blrd", maps, x), [B, -1, d])
      maps = tf.einsum("bpd,po->bod", pairs, kernel)
      pooled.append(tf.reduce_sum(maps, -1))
    return tf.concat(pooled, -1)
  op("cin", cin, {"x": x}, {"kernel_0": away(n * n, 3), "kernel_1": away(3 * n, 2)}, sizes=[3, 2])

  row = away(B, d)
  op("cross", lambda x, kernel_0, bias_0: x * (x @ kernel_0 + bias_0) + x, {"x": row},
     {"kernel_0": away(d, d), "bias_0": away(d)}, version=2)
  op("cross", lambda x, kernel_0, bias_0: x * (x @ kernel_0) + bias_0 + x, {"x": row},
     {"kernel_0": away(d, 1), "bias_0": away(d)}, version=1)


def clipping():
  grads = [away(3, 4), away(7)]
  cases = []
  for clip in (0.5, 100.0):
    clipped, norm = tf.clip_by_global_norm(grads, clip)
    cases.append({"clip": clip, "norm": plain(norm), "global": [plain(g) for g in clipped],
                  "each": [plain(tf.clip_by_norm(g, clip)) for g in grads]})
  return {"shapes": [list(g.shape) for g in grads], "values": [plain(g) for g in grads], "cases": cases}


def optimizers():
  v1 = tf.compat.v1.train
  initial, steps = away(7), 5
  grads = [away(7) for _ in range(steps)]
  grads[2][3] = 0
  makers = {
      "sgd": lambda: v1.GradientDescentOptimizer(0.1),
      "momentum": lambda: v1.MomentumOptimizer(0.1, 0.9),
      "nesterov": lambda: v1.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
      "adagrad": lambda: v1.AdagradOptimizer(0.3),
      "adam": lambda: v1.AdamOptimizer(0.05),
      "ftrl": lambda: v1.FtrlOptimizer(0.2),
      "ftrl regularized": lambda: v1.FtrlOptimizer(
          0.2, l1_regularization_strength=0.1, l2_regularization_strength=0.05, initial_accumulator_value=0.3,
          beta=0.5),
  }
  results = {}
  for name, make in makers.items():
    variable, optimizer = tf.Variable(initial), make()
    for grad in grads:
      optimizer.apply_gradients([(tf.constant(grad), variable)])
    slots = {slot: plain(optimizer.get_slot(variable, slot)) for slot in optimizer.get_slot_names()}
    results[name] = {"after": plain(variable), "slots": slots}
  # Slots start from zeros here, where RMSPropOptimizer starts the squares from ones: the rule is that of its op.
  for name, momentum in (("rmsprop", 0.0), ("rmsprop with momentum", 0.9)):
    variable = tf.Variable(initial)
    squares, velocity = (tf.Variable(np.zeros(7, np.float32)) for _ in range(2))
    for grad in grads:
      tf.raw_ops.ResourceApplyRMSProp(var=variable.handle, ms=squares.handle, mom=velocity.handle, lr=0.01, rho=0.9,
                                      momentum=momentum, epsilon=1e-3, grad=grad)
    results[name] = {"after": plain(variable), "slots": {"v": plain(squares), "m": plain(velocity)}}
  return {"initial": plain(initial), "gradients": [plain(g) for g in grads], "results": results}


def metrics():
  count = 60
  labels = (random.uniform(size=count) < 0.4).astype(np.float32)
  scores = np.round(np.clip(0.3 * labels + random.uniform(0, 0.7, count), 0, 1), 2).astype(np.float32)
  weights = random.uniform(0.5, 2, count).astype(np.float32)
  groups, grades = random.integers(0, 7, count), random.integers(0, 4, count)
  order = scores + 1e-4 * np.arange(count).astype(np.float32)  # without ties
  def exact(weighted):
    w = weights.astype(np.float64) if weighted else np.ones(count)
    pairs = w[labels > 0][:, None] * w[labels == 0][None, :]
    diff = scores[labels > 0][:, None] - scores[labels == 0][None, :]
    return float((pairs * ((diff > 0) + 0.5 * (diff == 0))).sum() / pairs.sum())
  def ndcg(k):
    values = []
    for group in np.unique(groups):
      at = groups == group
      gains = 2.0 ** grades[at] - 1
      places = 1 / np.log2(np.arange(min(k, at.sum())) + 2)
      best = (np.sort(gains)[::-1][:k] * places).sum()
      if best > 0:
        values.append((gains[np.argsort(-order[at])][:k] * places).sum() / best)
    return float(np.mean(values))
  def streaming(make):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
      value, update = make(tf.compat.v1.metrics)
      session.run(tf.compat.v1.local_variables_initializer())
      session.run(update)
      return float(session.run(value))
  bce = tf.keras.metrics.BinaryCrossentropy()
  bce.update_state(labels[:, None], scores[:, None], sample_weight=weights)
  return {
      "labels": plain(labels), "scores": plain(scores), "weights": plain(weights), "order": plain(order),
      "groups": groups.tolist(), "grades": grades.tolist(),
      "auc": exact(False), "weightedAuc": exact(True),
      "thresholdAuc": streaming(lambda m: m.auc(labels, scores)),
      "thresholdAucWeighted": streaming(lambda m: m.auc(labels, scores, weights=weights)),
      "rmse": streaming(lambda m: m.root_mean_squared_error(labels, scores, weights=weights)),
      "mae": streaming(lambda m: m.mean_absolute_error(labels, scores, weights=weights)),
      "accuracy": float(np.average((scores > 0.5) == (labels > 0), weights=weights)),
      "logLoss": float(bce.result()),
      "ndcg@3": ndcg(3), "ndcg@10": ndcg(10),
  }


activations()
norms()
losses()
layers()
tables = {
    "tensorflow": tf.__version__, "batch": B, "clipping": clipping(), "optimizers": optimizers(), "metrics": metrics()}
text = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in tables.items())
cases = ",\n".join(json.dumps(each) for each in ops)
with open(OUT, "w", encoding="utf8") as file:
  file.write("{\n" + text + ',\n"ops": [\n' + cases + "\n]}\n")
print(f"{len(ops)} ops")
