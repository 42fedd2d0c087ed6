/** @file Sessions for tests: small memory, always closed. */
import type { Graph, Op, Tensor } from '../../src/graph/graph.js';
import { Placeholder } from '../../src/graph/ops/state.js';
import type { BatchSchema } from '../../src/memory/batch.js';
import { Session, type SessionOptions } from '../../src/runtime/session/session.js';

/** Backends of the CPU; test/cuda/session-tests.test.ts puts that of the GPU in their place, and tables there too. */
export const BACKENDS = (process.env.MONOLITH_TEST_BACKENDS?.split(',') ?? ['wasm', 'reference']) as readonly (
  | 'wasm'
  | 'reference'
)[];

/** How many sessions had each backend; said at the end where another test chose it and has to know that it was met. */
const opened = new Map<string, number>();
if (process.env.MONOLITH_TEST_BACKENDS) {
  process.on('exit', () => {
    for (const [backend, count] of opened) console.log(`# sessions of ${backend}: ${count}`);
  });
}

/** The feeds of a graph, in the order its placeholders were made. */
export function schemaOf(graph: Graph): BatchSchema {
  return graph.ops
    .filter((op: Op) => op.type === Placeholder.type)
    .map(({ name, output }: { name: string; output: Tensor }) =>
      output.spec.ragged
        ? { name, kind: 'ragged' }
        : { name, kind: output.spec.dtype === 'int64' ? 'ids' : 'dense', width: output.columns },
    );
}

export function openSession(graph: Graph, options: Partial<SessionOptions> = {}): Promise<Session> {
  const { backend = 'auto' } = options;
  opened.set(backend, (opened.get(backend) ?? 0) + 1);
  return Session.create(graph, {
    schema: schemaOf(graph),
    batchSize: 8,
    threads: 2,
    memoryBytes: 32 << 20,
    ...(process.env.MONOLITH_TEST_GPU_TABLES && options.backend === 'cuda' && { useGpuEmbTable: true }),
    ...options,
  });
}

export async function withSession<T>(
  graph: Graph,
  options: Partial<SessionOptions>,
  body: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openSession(graph, options);
  try {
    return await body(session);
  } finally {
    await session.close();
  }
}

/** Rows of ids as a ragged feed. */
export function raggedOf(rows: readonly (readonly bigint[])[]): { splits: Int32Array; values: BigInt64Array } {
  const splits = new Int32Array(rows.length + 1);
  rows.forEach((row, index) => {
    splits[index + 1] = splits[index]! + row.length;
  });
  return { splits, values: BigInt64Array.from(rows.flat()) };
}
