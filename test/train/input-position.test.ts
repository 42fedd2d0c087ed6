/** @file Where the input stands belongs to a checkpoint: runs that are stopped anywhere train on every row once. */
import { join } from 'node:path';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import type { InputState } from '../../src/base/input-state.js';
import { setLogSink } from '../../src/base/log.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { loadBatches } from '../../src/data/resident-batches.js';
import { buildFfm } from '../../src/demo/ffm-model.js';

import type { Session, SessionOptions } from '../../src/runtime/session/session.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { inputStateOf } from '../../src/train/hooks/input-state.js';
import { LocalTrainer, type LocalTrainOptions, type TrainInput } from '../../src/train/local-train.js';
import { sampleSnapshot, treeOf } from '../checkpoint/helpers.js';
import { raggedOf } from '../runtime/with-session.js';
import { countingModel } from './counting-model.js';
import { loadBatches as loadFfm, smallSession } from './ffm-run.js';

const BATCHES = 40;
const WAYS = [0, 1, 2].flatMap((prefetch) => [false, true].map((postpush) => ({ prefetch, postpush })));
const endOfInput = () => new MonolithError('ML_OUT_OF_RANGE', { source: 'test' });

/** One id per batch, each once, some of them late; `from` on a run that goes on. */
class Rows implements TrainInput {
  readonly batchesAhead: number;
  readonly #batches: readonly number[];
  readonly #isLate: (at: number) => boolean;
  #at = 0;

  constructor(session: Session, batchesAhead: number, isLate: (at: number) => boolean) {
    this.batchesAhead = batchesAhead;
    this.#isLate = isLate;
    const ids = Array.from({ length: BATCHES }, (_, id) => ({ kind: 'ragged' as const, ...raggedOf([[BigInt(id)]]) }));
    this.#batches = loadBatches(
      session,
      ids.map((feed) => ({ rows: 1, feeds: [feed] })),
    );
  }

  next(): number | Promise<number> {
    return this.#isLate(this.#at) ? this.#later() : this.#take();
  }

  async #later(): Promise<number> {
    await new Promise(setImmediate);
    return this.#take();
  }

  #take(): number {
    if (this.#at === BATCHES) throw endOfInput();
    return this.#batches[this.#at++]!;
  }

  saveState(unused: number): InputState {
    return { at: this.#at - unused };
  }

  restoreState(state: InputState): void {
    this.#at = (state as { at: number }).at;
  }
}

async function countedRun(modelDir: string, options: Partial<SessionOptions>, stop: Partial<LocalTrainOptions>) {
  const { config, model } = countingModel();
  const trainer = await LocalTrainer.create({
    model,
    modelDir,
    session: {
      schema: [{ name: 'ids', kind: 'ragged' }],
      batchSize: 1,
      threads: 1,
      memoryBytes: 2 ** 25,
      ...options,
    },
    steps: BATCHES,
    ...stop,
  });
  return { trainer, rows: () => [...HashTable.of(trainer.session, config).rows()] };
}

t.test('runs that are stopped anywhere train on every row once, whatever was read ahead', async (t) => {
  const root = t.testdir();
  for (const [number, way] of WAYS.entries()) {
    const dir = join(root, String(number));
    const [runs, trained]: [number[], [bigint, number][]] = [[], []];
    for (let run = 0; trained.length === 0; run++) {
      const stop = new AbortController();
      const after = run === 1 ? 100 : 1 + (number % 3);
      let polls = 0;
      // A group of steps has run when it is polled: the stop comes wherever that is.
      const hook = { poll: () => void (++polls === after && stop.abort()) };
      const { trainer, rows } = await countedRun(dir, way, { hooks: [hook], signal: stop.signal });
      const input = new Rows(trainer.session, [8, 5, 100][run % 3]!, (at) => at % 4 !== run % 4);
      await trainer.train(input);
      runs.push(trainer.session.globalStep);
      await trainer.close();
      if (!stop.signal.aborted) {
        for (const { id, weights } of rows()) trained.push([id, weights[0]!]);
      }
    }
    t.ok(runs.length > 1, `${JSON.stringify(way)}: ${runs}`);
    t.equal(runs.at(-1), BATCHES);
    const wanted = Array.from({ length: BATCHES }, (_, id) => [BigInt(id), -1]);
    t.same(
      trained.sort(([a], [b]) => Number(a - b)),
      wanted,
    );
    const loaded = await loadCheckpoint((await latestCheckpoint(dir))!);
    t.same(loaded.input, { at: BATCHES });
  }
});

/** Leaves out every third batch, so that the step does not tell where it is. */
const placeOf = (taken: number) => taken + (taken >> 1);

t.test('a run in two parts gives the bytes of one in one part, when the input does not go by steps', async (t) => {
  const deterministic = { deterministic: true };
  const train = async (modelDir: string, steps: number, options: Partial<SessionOptions>) => {
    const trainer = await LocalTrainer.create({
      model: buildFfm(),
      session: smallSession({ ...deterministic, ...options }),
      modelDir,
      steps,
      saveEverySteps: 6,
    });
    const batches = loadFfm(trainer.session);
    let taken = 0;
    await trainer.train({
      next: () => batches[placeOf(taken++) % batches.length]!,
      batchesAhead: 4,
      saveState: (unused) => ({ at: placeOf(taken - unused) }),
      restoreState: (state) => {
        for (taken = 0; placeOf(taken) < (state as { at: number }).at; ) taken++;
      },
    });
    await trainer.close();
  };
  const dir = t.testdir();
  for (const [number, way] of WAYS.slice(1, 6).entries()) {
    if (number % 2 === 1) continue;
    const [parts, whole] = [join(dir, `parts${number}`), join(dir, `whole${number}`)];
    await train(parts, 6, way);
    await train(parts, 6, { ...way, threads: 2 });
    await train(whole, 12, way);
    const last = (root: string) =>
      Object.fromEntries(Object.entries(treeOf(root)).filter(([name]) => name.startsWith('model.ckpt-12')));
    t.same(last(parts), last(whole), JSON.stringify(way));
    t.same((await loadCheckpoint(join(parts, 'model.ckpt-12'))).input, { at: placeOf(12) });
  }
});

t.test('the position is asked for when something is saved, and kept before there is an input', async (t) => {
  const dir = t.testdir();
  const first = await countedRun(dir, {}, { steps: 4 });
  let asked = 0;
  const rows = new Rows(first.trainer.session, 2, () => false);
  await first.trainer.train({
    next: () => rows.next(),
    batchesAhead: 2,
    saveState: (unused) => {
      asked++;
      return rows.saveState(unused);
    },
    restoreState: () => void t.fail('there is nothing to restore'),
  });
  t.equal(asked, 1);
  t.same(await inputStateOf(first.trainer.session), { at: 4 });
  await first.trainer.close();
  // A save before the first step, of a run that ends before it has an input.
  const second = await countedRun(dir, {}, { steps: 4, saver: { noFirstSave: false } });
  t.same(second.trainer.inputState, { at: 4 });
  await second.trainer.close();
  t.same((await loadCheckpoint((await latestCheckpoint(dir))!)).input, { at: 4 });
});

t.test('an input that cannot go on is told of, and one that is half of one is refused', async (t) => {
  const dir = t.testdir();
  const first = await countedRun(dir, {}, { steps: 2 });
  await first.trainer.train(new Rows(first.trainer.session, 2, () => false));
  await first.trainer.close();
  const { trainer } = await countedRun(dir, {}, { steps: 1 });
  const rows = new Rows(trainer.session, 2, () => false);
  const said: string[] = [];
  const before = setLogSink((level, event) => void (level === 'warn' && said.push(event)));
  await t.rejects(trainer.train({ next: () => rows.next(), saveState: () => 1 } as TrainInput), {
    code: 'ML_FEED',
    message: /it has saveState and no restoreState/,
  });
  t.same(said, []);
  await trainer.close();
  const third = await countedRun(dir, {}, { steps: 1 });
  const again = new Rows(third.trainer.session, 2, () => false);
  await third.trainer.train({ next: () => again.next() });
  setLogSink(before);
  t.match(said, [/has the position of its input, and the input has no restoreState/]);
  await third.trainer.close();
});

t.test('a position that JSON would not keep is refused by name', async (t) => {
  const dir = t.testdir();
  for (const input of [{ at: 1n }, { at: undefined }, new Date(0), Int32Array.of(1), Number.NaN, [Number.NaN]]) {
    const snapshot = { ...sampleSnapshot(1), input: input as unknown as InputState };
    await t.rejects(saveCheckpoint(dir, snapshot), { code: 'ML_CKPT_WRITE', fields: { field: 'input' } });
  }
  for (const input of [null, 'x', [1, { a: [] }], { __proto__: null, a: '\u2028' } as unknown as InputState, 0]) {
    const { path } = await saveCheckpoint(dir, { ...sampleSnapshot(1), input: JSON.parse(JSON.stringify(input)) });
    t.same((await loadCheckpoint(path)).input, input);
  }
});
