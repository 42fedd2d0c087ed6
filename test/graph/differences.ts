/** @file Holds gradients to central differences: for tests of ops and layers. */
import { gradients } from '../../src/graph/gradients.js';
import type { Graph, Tensor } from '../../src/graph/graph.js';
import { mul, reduceMean, scale } from '../../src/graph/ops/math.js';
import { Placeholder, VARIABLES } from '../../src/graph/ops/state.js';
import { stream } from '../kernels/both.js';
import { withSession } from '../runtime/with-session.js';

export interface DifferenceOptions {
  readonly backend?: 'wasm' | 'reference';
  readonly rows?: number;
  readonly step?: number;
  readonly tolerance?: number;
  /** Values of feeds that are not drawn at random, such as labels and masks: they get no gradient. */
  readonly fixed?: Readonly<Record<string, Float32Array>>;
  /** Feeds and variables to be looked at; all unless told. */
  readonly only?: readonly string[];
}

/** Floats of either sign, away from zero, where several functions have a kink. */
export function awayFromZero(next: () => number, count: number): Float32Array {
  return Float32Array.from({ length: count }, () => (next() < 0.5 ? -1 : 1) * (0.3 + next()));
}

/**
 * Differentiates the mean of `out` squared by every dense feed and every trainable variable of its graph, and says where
 * that differs from central differences. Every element of the output has a factor of its own that way.
 */
export async function differences(out: Tensor, options: DifferenceOptions = {}): Promise<string[]> {
  const { graph } = out;
  const { rows = 5, step = 0.01, tolerance = 2e-3, fixed = {}, backend = 'wasm' } = options;
  const loss = scale(reduceMean(mul(out, out)), out.columns);
  const feeds = placeholdersOf(graph);
  const next = stream(11);
  const values: Record<string, Float32Array> = {};
  for (const { op, columns } of feeds) values[op.name] = fixed[op.name] ?? awayFromZero(next, rows * columns);
  const targets = [...feeds, ...graph.getCollection<Tensor>(VARIABLES)].filter(
    ({ op, spec }) => !(op.name in fixed) && spec.dtype === 'float32' && (options.only?.includes(op.name) ?? true),
  );
  const grads = gradients([loss], targets);
  return withSession(graph, { backend, threads: 2, batchSize: rows, memoryBytes: 64 << 20 }, async (session) => {
    const wrong: string[] = [];
    const at = async () => (await session.run([loss], values))[0] as number;
    for (const [index, { op }] of targets.entries()) {
      const grad = grads[index];
      const target = values[op.name] ?? (session.readVariable(op.name) as Float32Array);
      if (grad === undefined) {
        wrong.push(`${op.name} has no gradient`);
        continue;
      }
      const found = (await session.run([grad], values))[0] as Float32Array | number;
      for (let element = 0; element < target.length; element++) {
        const kept = target[element]!;
        target[element] = kept + step;
        const above = await at();
        target[element] = kept - step;
        const below = await at();
        target[element] = kept;
        const numeric = (above - below) / (2 * step);
        const analytic = typeof found === 'number' ? found : found[element]!;
        if (!(Math.abs(analytic - numeric) <= tolerance * Math.max(1, Math.abs(numeric)))) {
          wrong.push(`${op.name}[${element}]: ${analytic}, by differences ${numeric}`);
        }
      }
    }
    return wrong;
  });
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
