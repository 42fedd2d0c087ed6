/**
 * @file A program that trains a little session for ever and shows what it does when a signal comes:
 * `signal-program.js INSTALLS [SIGNAL]`. It had a handler of its own before, which says so.
 */
import { addSiguser1Handler } from '../../src/compat/index.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { addDumpHandler, type DumpSignal } from '../../src/train/signal-utils.js';
import { loadBatches, smallSession } from './ffm-run.js';

const [installs, signal] = process.argv.slice(2) as [string, DumpSignal | undefined];
for (const name of ['SIGUSR1', 'SIGUSR2'] as const) {
  if (name === signal || signal === undefined) process.on(name, () => console.error('the handler before'));
}
for (let i = 0; i < Number(installs); i++) {
  if (signal === undefined) console.error(`took ${addSiguser1Handler()}`);
  else addDumpHandler({ signal });
}
const trainer = await LocalTrainer.create({
  model: buildFfm(),
  modelDir: null,
  steps: 1_000_000_000,
  session: smallSession({ threads: 2, traceEvents: 4096 }),
});
const batches = loadBatches(trainer.session);
let at = 0;
setTimeout(() => console.error('training'), 100);
await trainer.train({ next: () => batches[at++ % batches.length]!, batchesAhead: Number.POSITIVE_INFINITY });
