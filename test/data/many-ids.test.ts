import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Dataset } from '../../src/data/dataset.js';
import { f } from '../../src/data/fields.js';
import { defineSchema } from '../../src/data/schema.js';
import { loadModel } from '../../src/serve/load-model.js';
import '../../src/serve/provide.js';
import { Estimator } from '../../src/train/estimator/estimator.js';
import { fm } from '../../src/zoo/fm.js';

const schema = defineSchema({ user: f.id(), items: f.ids({ split: ' ' }), click: f.label() });
const OPTIONS = { batchSize: 128, seed: 1, deterministic: true } as const;

interface Line {
  readonly user: string;
  readonly items: string;
  readonly click: number;
}

/** Some ids in most rows, and in one batch thousands in each: the slices of a batch have different numbers of them. */
function linesOf(rows: number, many: number): Line[] {
  return Array.from({ length: rows }, (_, row) => {
    const count = row >= 3 * 128 && row < 4 * 128 ? many + (row % 64) * 10 : row % 5;
    const items = Array.from({ length: count }, (_, at) => (row * 7 + at * 13) % 977).join(' ');
    return { user: String(row % 17), items, click: row % 3 === 0 ? 1 : 0 };
  });
}

function csvOf(dir: string, lines: readonly Line[]): string {
  const file = join(dir, 'rows.csv');
  writeFileSync(
    file,
    `user,items,click\n${lines.map(({ user, items, click }) => `${user},${items},${click}\n`).join('')}`,
  );
  return file;
}

t.test('nobody says how many ids there are, of files and of rows, and threads change nothing', async (t) => {
  const lines = linesOf(6 * 128, 1500);
  const file = csvOf(t.testdir({}), lines);
  const losses: (number | null)[] = [];
  for (const threads of [1, 2, 3]) {
    for (const data of [Dataset.from(file, schema), lines]) {
      const estimator = new Estimator(fm(schema, { dim: 4 }), { ...OPTIONS, threads });
      const { loss, step } = await estimator.train(data as never, { epochs: 2 });
      t.equal(step, 12);
      losses.push(loss, (await estimator.evaluate(data as never)).loss);
      await estimator.close();
    }
  }
  t.same(new Set(losses).size, 2, `the loss of training and of evaluating: ${losses}`);
});

t.test('a model serves rows with more ids than it was trained on', async (t) => {
  const dir = t.testdir({});
  const estimator = new Estimator(fm(schema, { dim: 4 }), { ...OPTIONS, threads: 2 });
  await estimator.train(linesOf(256, 10) as never, { epochs: 1 });
  const path = await estimator.export(join(dir, 'export'));
  const rows = [linesOf(512, 5000)[3 * 128 + 5]!, linesOf(1, 1)[0]!];
  const expected: number[] = [];
  for await (const { prediction } of estimator.predict(rows as never)) expected.push(prediction as number);
  await estimator.close();
  const model = await loadModel(path);
  t.same(await model.predict(rows as never), expected);
  await model.close();
});

t.test('a cell with ids beyond all reason is refused, unless it is meant', async (t) => {
  const line = { user: '1', items: '1 '.repeat(1_100_000).trim(), click: 1 };
  const file = csvOf(t.testdir({}), [linesOf(1, 1)[0]!, line]);
  const train = async (data: unknown, of = schema) => {
    const estimator = new Estimator(fm(of, { dim: 4 }), { batchSize: 128, threads: 1 });
    try {
      return await estimator.train(data as never, { epochs: 1 });
    } finally {
      await estimator.close();
    }
  };
  const error = {
    code: 'ML_DATA',
    message: /column items: 1100000 is over the limit of 1048576/,
    hint: /f\.ids a max/,
  };
  await t.rejects(train(Dataset.from(file, schema)), { ...error, message: /line 3, byte .*1100000 is over the limit/ });
  await t.rejects(train([line]), error);
  t.match(await train(Dataset.from(file, schema, { badRows: 'skip' })), { examples: 1 });
  const more = defineSchema({ ...schema.features, items: f.ids({ split: ' ', max: 1_100_000 }) }) as never;
  t.match(await train(Dataset.from(file, more), more), { examples: 2 });
});
