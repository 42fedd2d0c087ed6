/** @file Runs a model in a session and holds everything it gives to what the oracle expects. */
import type { Tensor } from '../../src/graph/graph.js';
import type { FetchValue, Session } from '../../src/index.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { type Bounded, explains } from './bounded.js';
import type { Expected, RowState } from './expectations.js';
import type { Model } from './model.js';
import type { TableModel } from './training.js';

/** How much was compared, and how much of it could have failed: a bound above a tenth of the value tells little. */
export interface Tally {
  numbers: number;
  telling: number;
}

const LISTED = 3;

/** Where `found` differs from `expected`. */
function differences(what: string, found: ArrayLike<number>, expected: readonly Bounded[], tally: Tally): string[] {
  if (found.length !== expected.length) return [`${what}: ${found.length} numbers, not ${expected.length}`];
  const size = expected.reduce((most, { v }) => Math.max(most, Math.abs(v)), 0);
  const wrong: string[] = [];
  expected.forEach((one, i) => {
    tally.numbers++;
    if (one.e <= 0.1 * Math.max(size, 1e-6)) tally.telling++;
    if (!explains(one, found[i]!)) wrong.push(`${what}[${i}]: ${found[i]}, not ${one.v} ± ${one.e.toPrecision(2)}`);
  });
  return wrong.length > LISTED
    ? [...wrong.slice(0, LISTED), `${what}: ${wrong.length} of ${expected.length} differ`]
    : wrong;
}

const listOf = (value: FetchValue): ArrayLike<number> =>
  typeof value === 'number' ? [value] : (value as Float32Array);

type Values = ReadonlyMap<string, { readonly tensor: Tensor; readonly values: readonly Bounded[] }>;

export async function compareModel(
  session: Session,
  model: Model,
  expected: Expected,
  tally: Tally,
): Promise<string[]> {
  const wrong = expected.missing.map((name) => `${name} has no gradient, and one is due`);
  const check = (when: string, values: Values, found: readonly FetchValue[]) => {
    [...values].forEach(([what, { values: list }], i) => {
      wrong.push(...differences(`${when}, ${what}`, listOf(found[i]!), list, tally));
    });
  };
  for (const table of model.tables) assignRows(session, table);
  session.writeVariable('global_step', BigInt64Array.of(0n));
  const fetches = [...expected.evaluation.values()].map(({ tensor }) => tensor);
  check('evaluated', expected.evaluation, await session.run(fetches, model.batches[0]!.feeds));
  for (const [step, values] of expected.steps.entries()) {
    const tensors = [...values.values()].map(({ tensor }) => tensor);
    check(`step ${step}`, values, await session.run([...tensors, model.train], model.batches[step + 1]!.feeds));
  }
  for (const [name, values] of expected.variables) {
    wrong.push(...differences(`${name} afterwards`, session.readVariable(name) as Float32Array, values, tally));
  }
  for (const [table, rows] of expected.tables) wrong.push(...compareRows(session, table, rows, tally));
  return wrong;
}

function assignRows(session: Session, { config, assigned }: TableModel): void {
  if (assigned.size === 0) return;
  const values = new Float32Array([...assigned.values()].flatMap((row) => [...row]));
  HashTable.of(session, config).assign(BigInt64Array.from(assigned.keys()), values);
}

function compareRows(
  session: Session,
  table: TableModel,
  expected: ReadonlyMap<bigint, RowState>,
  tally: Tally,
): string[] {
  const { name } = table.config;
  const wrong: string[] = [];
  const seen = new Set<bigint>();
  for (const { id, weights, state } of HashTable.of(session, table.config).rows()) {
    seen.add(id);
    const row = expected.get(id);
    if (row === undefined) {
      wrong.push(`${name}: id ${id} has a row, and no step should have made one`);
      continue;
    }
    wrong.push(...differences(`${name}, weights of ${id}`, weights, row.weights, tally));
    let at = 0;
    table.segments.forEach(({ optimizer }, i) => {
      const states = row.states[i]!;
      // The step of batch softmax is one whole number in two words.
      const words = optimizer === 'batchSoftmax' ? 2 : states.length;
      const part = state.slice(at, at + words);
      at += words;
      const numbers = optimizer === 'batchSoftmax' ? [Number(new BigInt64Array(part.slice().buffer)[0])] : part;
      wrong.push(...differences(`${name}, ${optimizer} state of ${id}`, numbers, states, tally));
    });
  }
  for (const id of expected.keys()) if (!seen.has(id)) wrong.push(`${name}: id ${id} has no row`);
  return wrong;
}
