/** @file Gradients of a scalar by central differences, to hold the graph's own against. */
import { gradients } from '../../src/graph/gradients.js';
import type { Tensor } from '../../src/graph/graph.js';
import type { FeedMap } from '../../src/runtime/feed-writer.js';
import type { Session } from '../../src/runtime/session.js';

const STEP = 0.02;
const TOLERANCE = 1e-3;

/** Where the gradients of `loss` by placeholders and variables differ from differences; nothing when all agree. */
export async function differences(
  session: Session,
  loss: Tensor,
  targets: readonly Tensor[],
  feeds: FeedMap,
): Promise<string[]> {
  const grads = gradients([loss], targets);
  const wrong: string[] = [];
  const at = async () => (await session.run([loss], feeds))[0] as number;
  for (const [index, { op }] of targets.entries()) {
    const values = (feeds[op.name] ?? session.readVariable(op.name)) as Float32Array;
    const grad = grads[index];
    const found = grad === undefined ? new Float32Array(values.length) : (await session.run([grad], feeds))[0];
    for (let i = 0; i < values.length; i++) {
      const kept = values[i]!;
      values[i] = kept + STEP;
      const above = await at();
      values[i] = kept - STEP;
      const numeric = (above - (await at())) / (2 * STEP);
      values[i] = kept;
      const analytic = (found as Float32Array)[i]!;
      if (Math.abs(analytic - numeric) <= TOLERANCE * Math.max(1, Math.abs(numeric))) continue;
      wrong.push(`${op.name}[${i}]: ${analytic}, by differences ${numeric}`);
    }
  }
  return wrong;
}
