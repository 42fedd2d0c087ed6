/** @file Drift: none where rows are alike, some where they move, and nothing said of too few. */
import t from 'tap';
import { MISSING_NUMBER } from '../../src/data/field.js';
import { driftOf } from '../../src/recipe/drift.js';
import { EncodedTable } from '../../src/recipe/encoded-table.js';

const ROWS = 10_000;
const schema = [
  { name: 'still', kind: 'dense', width: 1 },
  { name: 'rising', kind: 'dense', width: 1 },
  { name: 'user', kind: 'ids', width: 1 },
  { name: 'shop', kind: 'ids', width: 1 },
  { name: 'when', kind: 'ids', width: 1 },
] as const;
const rows = Array.from({ length: ROWS }, (_, row) => row);
/** Times that run against the order of the rows, so that it is seen which of the two counts. */
const table = new EncodedTable(
  schema,
  [
    { kind: 'dense', values: Float32Array.from(rows, (row) => (row % 7 === 0 ? MISSING_NUMBER : (row * 37) % 100)) },
    { kind: 'dense', values: Float32Array.from(rows, (row) => row) },
    { kind: 'ids', values: BigInt64Array.from(rows, (row) => BigInt((row * 31) % 50)) },
    { kind: 'ids', values: BigInt64Array.from(rows, (row) => (row < 8000 ? 1n : 2n)) },
    { kind: 'ids', values: BigInt64Array.from(rows, (row) => BigInt(ROWS - row)) },
  ],
  ROWS,
);
const of = (names: readonly string[], train: readonly number[], test: readonly number[]) =>
  driftOf({
    table,
    parts: { train: Uint32Array.from(train), validation: new Uint32Array(0), test: Uint32Array.from(test) },
    recipe: {
      version: 1,
      label: { column: 'y', text: 'y' },
      columns: names.map((name) => ({
        ...{ name, type: 'int' },
        role: name === 'when' ? 'time' : name === 'still' || name === 'rising' ? 'number' : 'id',
      })),
      sides: [],
      model: { name: 'lr' },
    },
  });

t.test('what is held out is told from what is trained on, and the end from the beginning', async (t) => {
  const drift = of(['still', 'rising', 'user', 'shop'], rows.slice(0, 8000), rows.slice(8000));
  t.ok(drift.still!.held! < 0.02 && drift.still!.last! < 0.05, 'the same numbers all along');
  t.ok(drift.user!.held! < 0.02 && drift.user!.last! < 0.1, 'the same ids all along');
  t.ok(drift.rising!.held! > 1 && drift.rising!.last! > 1, 'numbers that rise');
  t.ok(drift.shop!.held! > 1, 'another id');
  t.ok(drift.shop!.last! < 0.01, 'which training has not met');
});

t.test('where there is a time it says what the end is', async (t) => {
  const spread = rows.filter((row) => row % 2 === 0).sort((a, b) => ((a * 7919) % ROWS) - ((b * 7919) % ROWS));
  const odd = rows.filter((row) => row % 2 === 1);
  t.ok(of(['rising'], spread, odd).rising!.last! < 0.1, 'the order of the rows is a mixed one');
  t.ok(of(['rising', 'when'], spread, odd).rising!.last! > 1, 'that of the time is not');
});

t.test('of few rows nothing is said', async (t) => {
  t.same(of(['still'], rows.slice(0, 500), rows.slice(500, 600)), { still: { held: null, last: null } });
});
