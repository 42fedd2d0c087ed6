/**
 * @file The one way to run a bench: `npm run bench -- NAME [options]`. Without a name it lists them.
 *
 * A bench is a module that runs when it is the program, so it is made the program here.
 */
import { fileURLToPath } from 'node:url';

export const BENCHES: Readonly<Record<string, { readonly module: string; readonly shows: string }>> = {
  dense: { module: 'dense.js', shows: 'dense kernels against plain TypeScript and native twins' },
  gemm: { module: 'gemm.js', shows: 'matrix products of a network, each build of the kernels, against OpenBLAS' },
  sparse: { module: 'sparse.js', shows: 'unique ids, pooling and packing against native twins' },
  table: { module: 'table.js', shows: 'lookups and updates of tables against a native twin' },
  save: { module: 'save.js', shows: 'save and restore of a table against plain bytes' },
  scale: { module: 'scale.js', shows: 'growth of one table past what one memory holds' },
  sharding: { module: 'sharding.js', shows: 'sharding of ids against a native twin' },
  eigen: { module: 'eigen.js', shows: 'the eigensolver of shampoo by size' },
  touched: { module: 'touched-keys.js', shows: 'inserts into the touched-key set against a native twin' },
  ffm: { module: 'ffm.js', shows: 'whole training of the FFM demo: scaling, main thread, heap, trace, backends' },
  hooks: { module: 'hooks.js', shows: 'training with all hooks on against training with none' },
  quality: { module: 'quality.js', shows: 'AUC of defaults on MovieLens and Adult against the best of a grid' },
  report: { module: 'report.js', shows: 'from a CSV file to its report by the command alone, by phase' },
  serve: { module: 'serve.js', shows: 'answers in process and over HTTP, deltas against whole versions' },
  soak: {
    module: 'soak.js',
    shows: 'a server under mixed traffic with new versions: errors, and growth of its memory',
  },
  estimator: { module: 'estimator.js', shows: 'training by an estimator against a bare loop over the session' },
  cut: { module: 'cut.js', shows: 'steps that are cut against steps in one piece, and what a prefetch hides' },
  read: { module: 'read.js', shows: 'CSV, JSON lines and tf.Example into batches against parsers of npm' },
  parquet: { module: 'parquet.js', shows: 'Parquet into batches against hyparquet, by kind of pages' },
  ctr: { module: 'ctr.js', shows: 'whole training on ctr-ref: speed, memory and AUC of one model' },
  'ctr-feeds': { module: 'ctr-rounds.js', shows: 'training on ctr-ref from files beside training from memory' },
  'ctr-ref': { module: 'ctr-ref-files.js', shows: 'writes the files of ctr-ref' },
  'cuda-sim': { module: 'cuda-sim.js', shows: 'PTX on the simulated CUDA driver, launches through the addon' },
  against: { module: 'against.js', shows: 'this build against one of another checkout, in pairs' },
  peers: { module: 'peers.js', shows: 'whole training on ctr-ref by other systems, and by ours beside them' },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const name = process.argv[2] ?? '';
  const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
  if (bench === undefined) {
    const list = Object.entries(BENCHES).map(([key, { shows }]) => `  ${key.padEnd(9)} ${shows}`);
    console.error(`usage: npm run bench -- NAME [options]\n\n${list.join('\n')}`);
    process.exitCode = 2;
  } else {
    const module = new URL(bench.module, import.meta.url);
    process.argv.splice(1, 2, fileURLToPath(module));
    await import(module.href);
  }
}
