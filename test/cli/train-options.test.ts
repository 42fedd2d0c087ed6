import { availableParallelism } from 'node:os';
import fc from 'fast-check';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { flagMeta, flagName } from '../../src/cli/flags.js';
import { parseTrainFlags, toJobOptions, trainFlags } from '../../src/cli/train-options.js';

function refusal(raw: Record<string, unknown>): MonolithError {
  try {
    parseTrainFlags(raw);
  } catch (thrown) {
    if (thrown instanceof MonolithError) return thrown;
    throw thrown;
  }
  throw new Error(`was taken: ${JSON.stringify(raw)}`);
}

t.test('no flags give the documented defaults', async (t) => {
  t.same(parseTrainFlags({}), {
    model: 'ffm',
    data: 'clicks',
    vocab: 5,
    steps: 2000,
    until: null,
    batchSize: 64,
    threads: Math.min(64, availableParallelism()),
    backend: 'wasm',
    cudaDriver: null,
    useGpuEmbTable: false,
    gpuTableRows: null,
    modelDir: null,
    restoreFrom: null,
    restoreMode: 'exact',
    restoreCkpt: null,
    restoreDir: null,
    seed: 0,
    deterministic: false,
    prefetch: 0,
    postpush: false,
    tableMemory: null,
    whenFull: 'fail',
    trace: null,
    dumpGraph: null,
    saveEvery: null,
    evalEvery: null,
    metric: 'auc',
    minDelta: 0,
    earlyStop: null,
    keepBest: false,
    csv: null,
    summaryEvery: 100,
    csvEvery: 100,
    profile: null,
    profileEvery: null,
    profileDir: null,
    config: null,
    dryRun: false,
    json: false,
    quiet: false,
    verbose: false,
  });
});

t.test('good values are taken', async (t) => {
  const good: [string, string, unknown][] = [
    ['steps', '1', 1],
    ['steps', '0100', 100],
    ['steps', '2147483647', 2_147_483_647],
    ['threads', '64', 64],
    ['seed', '0', 0],
    ['seed', '4294967295', 4_294_967_295],
    ['vocab', '1000000', 1_000_000],
    ['batchSize', '1048576', 1_048_576],
    ['data', 'reference', 'reference'],
    ['tableMemory', '1.5g', 1.5 * 2 ** 30],
    ['whenFull', 'evict-expired', 'evict-expired'],
    ['backend', 'reference', 'reference'],
    ['backend', 'cuda', 'cuda'],
    ['backend', 'auto', 'auto'],
    ['modelDir', 'a folder/x', 'a folder/x'],
    ['trace', './-x', './-x'],
  ];
  for (const [key, text, value] of good) {
    t.equal((parseTrainFlags({ [key]: text }) as Record<string, unknown>)[key], value, `${key} ${text}`);
  }
  t.equal(parseTrainFlags({ saveEvery: '10', modelDir: 'd' }).saveEvery, 10);
  t.match(parseTrainFlags({ json: true, quiet: true }), { json: true, quiet: true });
});

t.test('bad values are refused with the flag, a reason and a hint', async (t) => {
  const bad: [Record<string, unknown>, string, RegExp, RegExp][] = [
    [{ steps: '0' }, '--steps', /from 1 to/, /nearest value it takes is 1/],
    [{ steps: '-5' }, '--steps', /from 1 to .* found -5/, /is 1$/],
    [{ steps: '1e3' }, '--steps', /plain digits, found "1e3"/, /write 1000/],
    [{ steps: '0x10' }, '--steps', /plain digits/, /write 16/],
    [{ steps: '1_000' }, '--steps', /plain digits/, /write 1000/],
    [{ steps: '10.5' }, '--steps', /plain digits/, /takes a number/],
    [{ steps: 'ten' }, '--steps', /plain digits/, /takes a number/],
    [{ steps: 'NaN' }, '--steps', /plain digits/, /takes a number/],
    [{ steps: 'Infinity' }, '--steps', /plain digits/, /takes a number/],
    [{ steps: '' }, '--steps', /plain digits/, /takes a number/],
    [{ steps: ' 5' }, '--steps', /plain digits/, /write 5/],
    [{ steps: '+5' }, '--steps', /plain digits/, /write 5/],
    [{ steps: '--json' }, '--steps', /plain digits/, /takes a number/],
    [{ steps: '99999999999999999999' }, '--steps', /from 1 to/, /2147483647/],
    [{ batchSize: '0' }, '--batch-size', /from 1/, /is 1$/],
    [{ vocab: '0' }, '--vocab', /from 1/, /is 1$/],
    [{ threads: '65' }, '--threads', /from 1 to 64, found 65/, /is 64$/],
    [{ threads: '0' }, '--threads', /from 1 to 64/, /is 1$/],
    [{ seed: '4294967296' }, '--seed', /from 0 to 4294967295/, /4294967295/],
    [{ seed: '-1' }, '--seed', /from 0/, /is 0$/],
    [{ model: 'fm' }, '--model', /must be ffm/, /did you mean ffm/],
    [{ model: 'FFM' }, '--model', /must be ffm/, /did you mean ffm/],
    [{ model: 'transformer' }, '--model', /must be ffm/, /it takes ffm/],
    [{ data: 'click' }, '--data', /clicks or reference/, /did you mean clicks/],
    [{ backend: 'gpu' }, '--backend', /wasm or reference or cuda or auto/, /called cuda/],
    [{ backend: 'wsam' }, '--backend', /wasm or reference or cuda or auto/, /did you mean wasm/],
    [{ cudaDriver: 'sim' }, '--cuda-driver', /not for the wasm backend/, /--backend cuda/],
    [{ useGpuEmbTable: true }, '--use-gpu-emb-table', /not for the wasm backend/, /--backend cuda/],
    [{ gpuTableRows: '9' }, '--gpu-table-rows', /for tables on the GPU/, /--use-gpu-emb-table/],
    [{ modelDir: '' }, '--model-dir', /empty/, /path/],
    [{ modelDir: '--json' }, '--model-dir', /found the flag "--json"/, /\.\/--json/],
    [{ trace: '-q' }, '--trace', /found the flag/, /\.\/-q/],
    [{ saveEvery: '5' }, '--save-every', /place to save/, /--model-dir/],
    [{ saveEvery: '0', modelDir: 'd' }, '--save-every', /from 1/, /is 1$/],
    [{ quiet: true, verbose: true }, '--quiet', /contradicts --verbose/, /one of the two/],
    [{ trace: 'a.json', dumpGraph: './a.json' }, '--dump-graph', /same file as --trace/, /its own/],
    [{ trace: 'd/', modelDir: './d' }, '--trace', /same path/, /folder/],
  ];
  for (const [raw, flag, reason, hint] of bad) {
    const error = refusal(raw);
    const name = JSON.stringify(raw);
    t.equal(error.code, 'ML_FLAG', name);
    t.equal(error.fields.flag, flag, name);
    t.match(error.message, reason, name);
    t.match(error.hint, hint, name);
  }
});

t.test('a number is taken exactly when it is digits within its range', async (t) => {
  const text = fc.oneof(fc.integer({ min: -10, max: 100 }).map(String), fc.string({ maxLength: 4 }));
  const property = fc.property(text, (threads) => {
    const right = /^\d+$/.test(threads) && Number(threads) >= 1 && Number(threads) <= 64;
    if (!right) return refusal({ threads }).fields.flag === '--threads';
    return parseTrainFlags({ threads }).threads === Number(threads);
  });
  t.doesNotThrow(() => fc.assert(property));
});

t.test('every flag has help, and every flag with a value names it', async (t) => {
  for (const [key, field] of Object.entries(trainFlags.shape)) {
    const meta = flagMeta.get(field);
    t.ok(meta?.help, key);
    const isSwitch = field.safeParse(true).success;
    t.equal(meta?.value === undefined, isSwitch, `${key} has a placeholder unless it is a switch`);
  }
  t.equal(flagName('batchSize'), '--batch-size');
});

t.test('the job sees what concerns it and nothing of the printing', async (t) => {
  const { signal } = new AbortController();
  const options = toJobOptions(parseTrainFlags({ saveEvery: '7', modelDir: 'd', json: true }), 100, signal);
  t.equal(options.saveEverySteps, 7);
  t.equal(options.progressIntervalMs, 100);
  t.equal(options.signal, signal);
  for (const key of ['json', 'quiet', 'verbose', 'saveEvery']) t.notOk(key in options, key);
});

t.test('steps and until: 2000 steps without either, no limit of steps with until alone, and both', (t) => {
  const read = (raw: Record<string, string>) => {
    const { steps, until } = parseTrainFlags(raw);
    return { steps, until };
  };
  t.same(read({}), { steps: 2000, until: null });
  t.same(read({ until: '50' }), { steps: null, until: 50 });
  t.same(read({ until: '50', steps: '7' }), { steps: 7, until: 50 });
  t.throws(() => read({ until: '0' }), { code: 'ML_FLAG', message: /--until/ });
  t.end();
});
