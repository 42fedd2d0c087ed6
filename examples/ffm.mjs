/**
 * @file The demo model through the API: what `monolith train` does, without flags, checkpoints and progress bar.
 *
 * Run it from a checkout after `npm ci`: `node examples/ffm.mjs [steps]`.
 */
import { data, demo, evaluate, LocalTrainer } from 'monolith-ts';

const steps = Number(process.argv[2] ?? 1000);
const batchSize = 64;
const seed = 0;
const model = demo.buildFfm(demo.FFM_LENGTH_MAX);
/** Six sparse features; labels are drawn from a hidden model of the same form. */
const dataset = { kind: 'clicks', vocab: 5, batchSize, seed };

/** A hook sees every step. The same array of fetches every time: another one would mean another program. */
const fetches = [model.loss];
const report = {
  quietSteps: () => Number.POSITIVE_INFINITY, // nothing to do in between: hearing of the steps later is fine
  beforeRun: () => fetches,
  afterRun: ({ globalStep }, [loss]) => {
    if (globalStep % Math.ceil(steps / 4) === 0) console.log(`step ${globalStep}: loss ${loss.toFixed(4)}`);
  },
};

const trainer = await LocalTrainer.create({
  model,
  modelDir: null, // a folder here would save at the end and go on from there next time
  steps,
  hooks: [report],
  session: { schema: demo.ffmSchema(), batchSize, seed },
});
try {
  const { session } = trainer;
  const reader = await data.DataReader.start({
    session,
    dataset: demo.ffmDataset(dataset),
  });
  try {
    await trainer.train({ next: () => reader.next(60_000), batchesAhead: Number.POSITIVE_INFINITY });
  } finally {
    await reader.close();
  }
  const heldOut = demo.loadFfmBatches(session, demo.heldOutOf(dataset));
  const { auc, loss, examples } = await evaluate(session, model, heldOut);
  console.log(`held out: AUC ${auc.toFixed(4)}, loss ${loss.toFixed(4)} over ${examples} examples`);
} finally {
  await trainer.close();
}
