/** @file What losses compute. Labels get no gradient. */
import * as curves from './curves.js';
import type { Evaluation } from './evaluation.js';
import { attrsOf, each, type Rules } from './rules-basic.js';
import { exponentials } from './rules-reduce.js';
import type { Tape } from './tape.js';

const times = (tape: Tape, factor: number, node: number): number => tape.sum([node], factor);

/** log(1 + exp(x)) of a logit and of its negation. */
function sides(tape: Tape, logit: number): { up: number; down: number } {
  return { up: tape.curve(times(tape, -1, logit), curves.softplus), down: tape.curve(logit, curves.softplus) };
}

/** A loss of examples of class 1 and one of class 0, by the label. */
function byLabel(tape: Tape, label: number, positive: number, negative: number): number {
  const rest = tape.sub(tape.leaf(1), label);
  return tape.dot([label, rest], [positive, negative]);
}

/** log sigmoid(d), as spec'd: d - log(1 + e^d) in between, d far below, 0 far above. */
const logSigmoid = (tape: Tape, d: number): number => times(tape, -1, tape.curve(times(tape, -1, d), curves.softplus));

function inbatchAuc(evaluation: Evaluation, labels: Int32Array, logits: Int32Array, negWeight: number): number {
  const { tape } = evaluation;
  const own = [...logits];
  // The weight of negatives is one of their gradients, not of the loss.
  const lowered = own.map((node) => tape.copy(node, negWeight));
  const terms: number[] = [];
  labels.forEach((p, i) => {
    if (!(tape.value(p) > 0)) return;
    labels.forEach((n, j) => {
      const label = tape.value(n);
      if (label <= 0 && label > -10000) terms.push(logSigmoid(tape, tape.sub(own[i]!, lowered[j]!)));
    });
  });
  return tape.sum(terms);
}

export const LOSS_RULES: Rules = {
  SigmoidCrossEntropyWithLogits: (op, [logits, labels], evaluation) => {
    const { tape } = evaluation;
    return each(op, evaluation, (r) => {
      const [x, label] = [logits!.ids[r]!, tape.stopped(labels!.ids[r]!)];
      // max(x, 0) - x * label + log1p(exp(-|x|)).
      return tape.sub(tape.curve(x, curves.softplus), tape.mul(x, label));
    });
  },
  LogitLoss: (op, [logits, labels], evaluation) => {
    const { tape } = evaluation;
    const attrs = attrsOf<{ kind: string; gamma: number; positive: number; negative: number }>(op);
    return each(op, evaluation, (r) => {
      const [x, label] = [logits!.ids[r]!, tape.stopped(labels!.ids[r]!)];
      if (attrs.kind === 'hinge') {
        const sign = tape.shift(times(tape, 2, label), -1);
        return tape.curve(tape.sub(tape.leaf(1), tape.mul(sign, x)), curves.relu);
      }
      let { up, down } = sides(tape, x);
      if (attrs.kind === 'focal') {
        // (1 - p)^gamma is exp(-gamma * softplus(x)), p^gamma likewise.
        const [miss, hit] = [down, up].map((node) => tape.curve(times(tape, -attrs.gamma, node), curves.exp)) as [
          number,
          number,
        ];
        [up, down] = [tape.mul(miss, up), tape.mul(hit, down)];
      }
      return byLabel(tape, label, times(tape, attrs.positive, up), times(tape, attrs.negative, down));
    });
  },
  SoftmaxCrossEntropyWithLogits: (op, [logits, labels], evaluation) => {
    const { tape } = evaluation;
    const { sparse } = attrsOf<{ sparse: boolean }>(op);
    const width = op.inputs[0]!.columns;
    return each(op, evaluation, (r) => {
      const row = [...logits!.ids.subarray(r * width, (r + 1) * width)];
      const { pivot, sum } = exponentials(tape, row)!;
      const top = tape.curve(sum, curves.log);
      // log of the sum of exp(x - x[c]) for each class c.
      const losses = row.map((node) => tape.sub(top, tape.sub(node, pivot)));
      if (sparse) return losses[tape.value(labels!.ids[r]!)]!;
      return tape.dot(
        losses,
        losses.map((_, c) => tape.stopped(labels!.ids[r * width + c]!)),
      );
    });
  },
  InbatchSoftmaxLoss: (op, [, items, rows], evaluation) => {
    const { tape } = evaluation;
    const width = op.inputs[2]!.columns;
    const row = (ids: Int32Array, r: number) => [...ids.subarray(r * width, (r + 1) * width)];
    const count = rows!.ids.length / width;
    const pairs = Array.from({ length: count }, (_, r) => {
      const scores = Array.from({ length: count }, (_, j) => tape.dot(row(rows!.ids, r), row(items!.ids, j)));
      const { pivot, sum } = exponentials(tape, scores)!;
      const total = tape.sum([tape.curve(sum, curves.log), pivot]);
      return { loss: tape.sub(total, scores[r]!), total };
    });
    return op.outputs.map((output, index) =>
      evaluation.made(output, (r) => (index === 0 ? pairs[r]!.loss : pairs[r]!.total)),
    );
  },
  InbatchAucLoss: (op, [labels, , logits], evaluation) => {
    const { negWeight } = attrsOf<{ negWeight: number }>(op);
    return each(op, evaluation, () => inbatchAuc(evaluation, labels!.ids, logits!.ids, negWeight));
  },
};
