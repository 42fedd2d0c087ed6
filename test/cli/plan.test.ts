import t from 'tap';
import { runProgram } from '../../src/cli/program.js';
import { ROW_DIM_MAX, ROW_FLOATS_MAX } from '../../src/memory/limits.js';
import { OPTIMIZER_NUMBER } from '../../src/memory/optimizer-layout.js';
import { type PlannedOptimizer, planOptimizer } from '../../src/sparse/config/optimizer-plan.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { tableDim } from '../../src/sparse/config/table-plan.js';
import { FakeIo } from './fake-io.js';
import { runCli } from './run-cli.js';

async function plan(args: string): Promise<{ code: number; out: string; err: string }> {
  const io = new FakeIo();
  const code = await runProgram(['plan', ...args.split(' ')], io);
  return { code, out: io.out.text, err: io.err.text };
}

const fieldsOf = async (args: string) => JSON.parse((await plan(`${args} --json`)).out);

t.test('a plan says what a table will take', async (t) => {
  const { code, out, err } = await plan('--rows 10m --dims 16,1 --optimizer adagrad,ftrl --threads 4 --budget 8g');
  t.equal(code, 0);
  t.equal(err, '');
  for (const line of [
    /^10m rows of 16 \(adagrad\) \+ 1 \(ftrl\) floats$/m,
    /^ {2}weights +648\.5 MiB$/m,
    /^ {2}state +686\.6 MiB/m,
    /^ {2}keys +256\.0 MiB .*doubled by 13\.8m rows$/m,
    /^ {2}slack +136\.\d MiB/m,
    /^ {2}total +1\.7 GiB +1\.29 x weights and state/m,
    /^ {2}peak +1\.7 GiB +while indexes grow on 4 threads$/m,
    /^ {2}memories +1 /m,
    /^ {2}checkpoint +2\.0 GiB +in 4 files$/m,
    /^fits a budget of 8\.0 GiB, which holds about [\d.]+m rows$/m,
  ]) {
    t.match(out, line);
  }
});

t.test('the JSON has the bytes', async (t) => {
  const fields = await fieldsOf('--rows 1m --dims 8 --optimizer adam --threads 2');
  t.match(fields, {
    event: 'plan',
    rows: 1_000_000,
    segments: [{ dim: 8, optimizer: 'adam', state_floats: 18 }],
    threads: 2,
    budget_bytes: null,
    fits: null,
    table: { row_bytes: 112, weight_bytes: 32_000_000, state_bytes: 72_000_000, banks: 1 },
  });
  const { table } = fields;
  t.equal(
    table.weight_bytes + table.state_bytes + table.key_bytes + table.padding_bytes + table.spare_bytes,
    table.total_bytes,
  );
  t.equal(table.ratio, table.total_bytes / (table.weight_bytes + table.state_bytes));
});

t.test('every optimizer has a plan', async (t) => {
  for (const optimizer of Object.keys(OPTIMIZER_NUMBER)) {
    const fields = await fieldsOf(`--rows 1k --dims 1 --optimizer ${optimizer}`);
    t.match(fields, { event: 'plan', segments: [{ optimizer }] }, optimizer);
    t.ok(fields.checkpoint_bytes > 1000 * 30, optimizer);
  }
});

t.test('shards share the rows, and a table that does not fit the budget exits with 1', async (t) => {
  const one = await fieldsOf('--rows 80m --dims 16');
  const four = await fieldsOf('--rows 80m --dims 16 --shards 4');
  t.equal(four.rows_per_shard, 20_000_000);
  t.ok(one.table.banks > four.table.banks);
  t.equal(one.checkpoint_bytes, four.checkpoint_bytes);
  const tight = await plan('--rows 80m --dims 16 --budget 4g');
  t.equal(tight.code, 1);
  t.match(tight.out, /^does not fit a budget of 4\.0 GiB, which holds about 25\.\dm rows$/m);
  t.match(await plan('--rows 80m --dims 16 --budget 4g --shards 4'), { code: 0, out: /each of 4 shards, 20m rows/ });
});

t.test('misuse says what to write', async (t) => {
  const cases: [string, RegExp, RegExp][] = [
    ['--dims 16', /--rows: is missing/, /--rows 10m/],
    ['--rows 10m', /--dims: is missing/, /--dims 16/],
    ['--rows 1e7 --dims 16', /--rows: must be a count .*"1e7"/, /write 10000000/],
    ['--rows 10_000 --dims 16', /--rows: .*"10_000"/, /write 10000$/],
    ['--rows 10M --dims x', /--dims: .*"x"/, /write 16,1/],
    ['--rows 10mb --dims 16', /--rows: .*"10mb"/, /250k, 10m/],
    ['--rows 1.0005k --dims 16', /--rows: must be a whole number/, /smaller unit/],
    ['--rows 0 --dims 16', /--rows: must be from 1/, /1 at the least/],
    ['--rows 2m --dims 16,', /--dims: must be a list/, /write 16,1/],
    ['--rows 2m --dims 16,0', /--dims: a dimension/, /16,1/],
    ['--rows 2m --dims 16 --optimizer adagard', /--optimizer: unknown optimizer "adagard"/, /did you mean adagrad/],
    ['--rows 2m --dims 16 --optimizer group_ftrl', /unknown optimizer/, /did you mean groupFtrl/],
    ['--rows 2m --dims 16 --optimizer zzz', /unknown optimizer/, /it takes adagrad, sgd/],
    ['--rows 2m --dims 16,1 --optimizer sgd,sgd,sgd', /3 optimizers for 2 segments/, /one for each/],
    ['--rows 2m --dims 2 --optimizer batchSoftmax', /batchSoftmax takes segments of dimension 1/, /--dims 1/],
    ['--rows 2m --dims 16 --budget 8', /--budget: must be a size with its unit/, /write 8g, or 8b/],
    ['--rows 2m --dims 16 --budget 8gg', /--budget: .*"8gg"/, /8GiB or 8GB/],
    ['--rows 2m --dims 16 --budget 1k', /--budget: must be from 1048576/, /1048576b at the least/],
    ['--rows 3 --dims 16 --shards 4', /--shards: 4 tables cannot share 3 rows/, /3 at the most/],
    ['--rows 10b --dims 64', /--rows: 10000000000 rows do not fit one table/, /--shards \d+$/],
    ['--rows 2m --dims 20000', /--dims: a dimension must be .* from 1 to 16384, found "20000"/, /16,1/],
    ['--rows 2m --dims 16384,1', /--dims: a row of 16385 floats/, /at most 16384/],
    ['--row 2m', /--row: unknown flag/, /did you mean --rows/],
  ];
  for (const [args, message, hint] of cases) {
    const ended = await plan(args);
    t.match(ended, { code: 2, out: '', err: message }, args);
    t.match(ended.err.split('\n')[1], hint, args);
    t.equal(ended.err.split('\n').length, 3, `${args}: an error, a hint and no more`);
  }
});

t.test('what a plan accepts, a table accepts, and nothing wider', async (t) => {
  const cases = [[1], [16, 1], [ROW_DIM_MAX], [ROW_DIM_MAX - 1, 1], [ROW_DIM_MAX + 1], [ROW_DIM_MAX, 1], [20_000]];
  for (const dims of cases) {
    const { code } = await plan(`--rows 1000 --dims ${dims.join(',')}`);
    const segments = dims.map((dim) => ({ dim }));
    const wide = dims.reduce((sum, dim) => sum + dim, 0) > ROW_DIM_MAX;
    t.equal(code, wide ? 2 : 0, `plan of ${dims}`);
    const define = () => tableDim(defineTable('wide', segments));
    if (wide)
      t.throws(define, { code: 'ML_GRAPH', message: new RegExp(`1 to ${ROW_DIM_MAX} dimensions`) }, `table of ${dims}`);
    else t.doesNotThrow(define, `table of ${dims}`);
  }
});

t.test('the widest row with the most state is still one request to the heap', async (t) => {
  for (const name of Object.keys(OPTIMIZER_NUMBER) as PlannedOptimizer[]) {
    const perWeight = planOptimizer({ [name]: {} }, 1).stateFloats;
    t.ok(ROW_DIM_MAX * (1 + perWeight) <= ROW_FLOATS_MAX, `${name}: ${perWeight} floats of state a weight`);
  }
});

t.test('the shards a hint names are enough', async (t) => {
  for (const shape of ['--rows 10b --dims 64', '--rows 9b --dims 1 --optimizer sgd --threads 1']) {
    const shards = /--shards (\d+)/.exec((await plan(shape)).err)?.[1];
    t.match(await plan(`${shape} --shards ${shards}`), { code: 0 }, shape);
  }
});

t.test('sizes are read as people write them', async (t) => {
  const rows = async (text: string) => (await fieldsOf(`--rows ${text} --dims 1`)).rows;
  t.same(await Promise.all(['7', '2k', '1.5M', '1.1m', '0.5k'].map(rows)), [7, 2000, 1_500_000, 1_100_000, 500]);
  const budget = async (text: string) => (await fieldsOf(`--rows 1k --dims 1 --budget ${text}`)).budget_bytes;
  t.same(await Promise.all(['1g', '1GiB', '1GB', '1.5m', '2mb', '1048576b'].map(budget)), [
    2 ** 30,
    2 ** 30,
    1e9,
    1.5 * 2 ** 20,
    2e6,
    2 ** 20,
  ]);
});

t.test('as a process it prints the same', async (t) => {
  const cwd = t.testdir();
  t.match(await runCli(['plan', '--rows', '1m', '--dims', '4'], { cwd }), {
    code: 0,
    out: /^1m rows of 4 floats/,
    err: '',
  });
  t.match(await runCli(['plan', '--help'], { cwd }), { code: 0, out: /Examples:\n {2}monolith plan --rows 10m/ });
});
