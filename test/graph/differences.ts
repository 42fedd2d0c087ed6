/** @file Holds gradients to central differences: for tests of ops and layers. */
import { gradients } from '../../src/graph/gradients.js';
import type { Graph, Op, Tensor } from '../../src/graph/graph.js';
import { mul, scale } from '../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { Placeholder, VARIABLES } from '../../src/graph/ops/state.js';
import type { Session } from '../../src/runtime/session/session.js';
import { stream } from '../kernels/both.js';
import { withSession } from '../runtime/with-session.js';

export interface DifferenceOptions {
  readonly backend?: 'wasm' | 'reference';
  readonly rows?: number;
  readonly step?: number;
  readonly tolerance?: number;
  /** Values of feeds that are not drawn at random, such as labels and masks: they get no gradient. */
  readonly fixed?: Readonly<Record<string, Float32Array>>;
}

/** Floats of either sign, away from zero, where several functions have a kink. */
export function awayFromZero(next: () => number, count: number): Float32Array {
  return Float32Array.from({ length: count }, () => (next() < 0.5 ? -1 : 1) * (0.3 + next()));
}

/** Directions that each feed and variable is moved along. */
const DIRECTIONS = 3;

/**
 * Differentiates the mean of `out` squared by the dense feeds and the variables it depends on, and says along which
 * random directions that differs from central differences. Every element of the output has a factor of its own that
 * way.
 */
export function differences(out: Tensor, options: DifferenceOptions = {}): Promise<string[]> {
  const { rows = 5, backend = 'wasm' } = options;
  const check = prepareDifferences(out, options);
  return withSession(out.graph, { backend, threads: 1, batchSize: rows, memoryBytes: 64 << 20 }, check);
}

/** The same for many outputs of one graph: adds what is needed to the graph, and returns the check for a session. */
export function prepareDifferences(
  out: Tensor,
  options: DifferenceOptions = {},
): (session: Session) => Promise<string[]> {
  const { graph } = out;
  const { rows = 5, step = 0.01, tolerance = 2e-3, fixed = {} } = options;
  const loss = scale(reduceMean(mul(out, out)), out.columns);
  const feeds = placeholdersOf(graph);
  const next = stream(11);
  const values: Record<string, Float32Array> = {};
  for (const { op, columns } of feeds) values[op.name] = fixed[op.name] ?? awayFromZero(next, rows * columns);
  const below = ancestors(out);
  const targets = [...feeds, ...graph.getCollection(VARIABLES)].filter(
    ({ op, spec }) => !(op.name in fixed) && spec.dtype === 'float32' && below.has(op),
  );
  const grads = gradients([loss], targets);
  return async (session) => {
    const wrong: string[] = targets.length === 0 ? ['nothing to differentiate by'] : [];
    const at = async () => (await session.run([loss], values))[0] as number;
    for (const [index, { op }] of targets.entries()) {
      const target = values[op.name] ?? (session.readVariable(op.name) as Float32Array);
      const kept = target.slice();
      const value = grads[index] && (await session.run([grads[index]], values))[0];
      const found = typeof value === 'number' ? Float32Array.of(value) : (value as Float32Array | undefined);
      if (found?.length !== target.length) {
        wrong.push(`${op.name} has a gradient of ${found?.length} floats`);
        continue;
      }
      for (let d = 0; d < DIRECTIONS; d++) {
        // Most of a direction is one element, so that a few wrong ones are not lost among many right ones.
        const favourite = Math.floor(next() * kept.length);
        const direction = kept.map((_, i) => (i === favourite ? 1 : (next() - 0.5) / 2));
        const move = async (by: number) => {
          target.set(kept.map((value, i) => value + by * direction[i]!));
          return at();
        };
        const numeric = ((await move(step)) - (await move(-step))) / (2 * step);
        target.set(kept);
        const analytic = found.reduce((sum, g, i) => sum + g * direction[i]!, 0);
        if (!(Math.abs(analytic - numeric) <= tolerance * Math.max(1, Math.abs(numeric)))) {
          wrong.push(`${op.name}, mostly [${favourite}]: ${analytic}, by differences ${numeric}`);
        }
      }
    }
    return wrong;
  };
}

function ancestors(out: Tensor): Set<Op> {
  const found = new Set<Op>();
  const open = [out.op];
  for (let op = open.pop(); op !== undefined; op = open.pop()) {
    if (found.has(op)) continue;
    found.add(op);
    open.push(...op.inputs.map((input) => input.op));
  }
  return found;
}

/** Dense feeds of a graph. */
export function placeholdersOf(graph: Graph): Tensor[] {
  return graph.ops.filter((op) => op.type === Placeholder.type && !op.output.spec.ragged).map((op) => op.output);
}

/** The values of `fetches` for given feeds. */
export function valuesOf(
  fetches: readonly Tensor[],
  feeds: Readonly<Record<string, Float32Array>>,
  options: { readonly backend?: 'wasm' | 'reference'; readonly rows: number },
): Promise<Float32Array[]> {
  const { rows, backend = 'wasm' } = options;
  return withSession(fetches[0]!.graph, { backend, batchSize: rows, memoryBytes: 64 << 20 }, async (session) => {
    const found = await session.run(fetches, feeds);
    return found.map((value) => (typeof value === 'number' ? Float32Array.of(value) : (value as Float32Array)));
  });
}
