/**
 * @file Standing measurement of whole training: the FFM demo as `monolith train` runs it.
 *
 * `npm run bench -- ffm [--quick] [--json] [--only scaling,main,heap,trace,backend]`. Ratios come from one run and
 * from systems that take turns; see bench/README.md for how to read them.
 */
import { chooseKernels } from '../src/runtime/backends/wasm/choose-kernels.js';
import {
  type BackendRatio,
  type HeapUse,
  type MainThread,
  type MeasureOptions,
  measureBackends,
  measureHeap,
  measureMainThread,
  measureScaling,
  measureTraceCost,
  type Scaling,
  type TraceCost,
} from './ffm-measures.js';
import { benchMain, type Machine, machine, machineText, table } from './harness.js';

const PARTS = ['scaling', 'main', 'heap', 'trace', 'backend'] as const;
type Part = (typeof PARTS)[number];

export interface FfmReport extends Machine {
  /** The build of the kernels that sessions of the wasm backend take here. */
  readonly kernels: string;
  readonly scaling: readonly Scaling[];
  readonly mainThread: readonly MainThread[];
  readonly heap: readonly HeapUse[];
  readonly trace: readonly TraceCost[];
  readonly backend: readonly BackendRatio[];
}

/** What is wanted of a full run; shown beside what was measured, never enforced. */
export const BARS = { speedupAt4096: 1.7, mainShareAt4096: 0.05, traceCost: 1.02 };

interface Sizes extends MeasureOptions {
  readonly scaling: readonly (readonly [vocab: number, batchSize: number])[];
  readonly main: readonly number[];
  readonly heap: readonly number[];
  readonly heapSteps: number;
  readonly trace: MeasureOptions;
  readonly batchSize: number;
}

const FULL_TURNS = { rounds: 7, roundsMax: 40, turnMs: 120, warmUpMs: 600 };
const FULL: Sizes = {
  ...FULL_TURNS,
  scaling: [5, 1000, 100_000].flatMap((vocab) => [64, 512, 4096].map((batchSize) => [vocab, batchSize] as const)),
  main: [512, 4096],
  heap: [64, 1024],
  heapSteps: 10_000,
  // A difference of 2 % drowns in what a core does in a tenth of a second: many short turns instead.
  trace: { ...FULL_TURNS, rounds: 60, roundsMax: 150, turnMs: 50 },
  batchSize: 512,
};
const QUICK_TURNS = { rounds: 1, roundsMax: 1, turnMs: 5, warmUpMs: 5, examples: 256 };
const QUICK: Sizes = {
  ...QUICK_TURNS,
  scaling: [[1000, 256]],
  main: [64],
  heap: [64],
  heapSteps: 200,
  trace: QUICK_TURNS,
  batchSize: 64,
};

/** Runs the measurements and returns the numbers. `quick` shows that everything runs, not how fast. */
export async function runFfmBench({
  quick = false,
  parts = PARTS as readonly Part[],
}: {
  quick?: boolean;
  parts?: readonly Part[];
} = {}): Promise<FfmReport> {
  const sizes = quick ? QUICK : FULL;
  const each = async <I, R>(part: Part, items: readonly I[], measure: (item: I) => Promise<R>): Promise<R[]> => {
    const results: R[] = [];
    // One after the other: measurements that overlap measure each other.
    if (parts.includes(part)) for (const item of items) results.push(await measure(item));
    return results;
  };
  return {
    ...machine(),
    kernels: (await chooseKernels()).variant,
    scaling: await each('scaling', sizes.scaling, ([vocab, batchSize]) => measureScaling(vocab, batchSize, sizes)),
    mainThread: await each('main', sizes.main, (batchSize) => measureMainThread(batchSize, 2, sizes)),
    heap: await each('heap', sizes.heap, (batchSize) => measureHeap(batchSize, sizes.heapSteps, sizes)),
    trace: await each('trace', [sizes.batchSize], (batchSize) => measureTraceCost(batchSize, sizes.trace)),
    backend: await each('backend', [sizes.batchSize], (batchSize) => measureBackends(batchSize, sizes)),
  };
}

const percent = (share: number) => (Number.isNaN(share) ? '-' : `${(share * 100).toFixed(1)} %`);
const thousands = (value: number) => `${(value / 1000).toFixed(0)}k`;

function text(report: FfmReport): string {
  const { scaling, mainThread, heap, trace, backend } = report;
  const sections: string[] = [
    `${machineText(report)}, ${report.kernels} kernels; "others" is what other processes used of one core meanwhile`,
  ];
  if (scaling.length > 0) {
    const rows = scaling.map((s) => [
      `vocabulary ${s.vocab}, batch ${s.batchSize}`,
      ...s.examplesPerS.map(thousands),
      s.speedup.toFixed(2),
      s.cpuSpeedup.toFixed(2),
      percent(s.foreignShare),
    ]);
    sections.push(
      `examples/s, and the speed of 2 threads over 1 (wanted at batch 4096: ${BARS.speedupAt4096})`,
      table(['', '1 thread', '2 threads', 'ratio', 'by CPU time', 'others'], rows),
    );
  }
  if (mainThread.length > 0) {
    const rows = mainThread.map((m) => [
      `batch ${m.batchSize}, ${m.threads} threads`,
      `${m.stepUs.toFixed(0)} us`,
      `${m.cpuUsPerStep.toFixed(1)} us`,
      percent(m.cpuShare),
      percent(m.loopShare),
      percent(m.foreignShare),
    ]);
    sections.push(
      `the main thread during training (wanted at batch 4096: under ${percent(BARS.mainShareAt4096)})`,
      table(['', 'step', 'CPU per step', 'CPU share', 'loop busy', 'others'], rows),
    );
  }
  if (heap.length > 0) {
    const rows = heap.map((h) => [
      `batch ${h.batchSize}, ${h.steps} steps`,
      h.allocatedPerStep.toFixed(0),
      h.retainedPerStep.toFixed(1),
      String(h.collections),
    ]);
    sections.push(
      'JavaScript heap of the main thread, bytes per step',
      table(['', 'allocated', 'retained', 'collections'], rows),
    );
  }
  for (const t of trace) {
    sections.push(
      `time of a step with tracing on over that with it off (wanted: under ${BARS.traceCost})`,
      table(
        ['', 'no rings', 'rings off', 'CPU, rings off', 'others'],
        [
          [
            `batch ${t.batchSize}`,
            ...[t.onOverNone, t.onOverOff, t.cpuOnOverOff].map((ratio) => ratio.toFixed(3)),
            percent(t.foreignShare),
          ],
        ],
      ),
    );
  }
  for (const b of backend) {
    sections.push(
      `the plain backend takes ${b.referenceOverWasm.toFixed(1)} times as long as WASM at batch ${b.batchSize}`,
    );
  }
  return sections.join('\n\n');
}

/** The parts named after `--only`; all of them without it. */
function partsWanted(): readonly Part[] {
  const at = process.argv.indexOf('--only');
  const names = at < 0 ? undefined : process.argv[at + 1]?.split(',');
  return names === undefined ? PARTS : PARTS.filter((part) => names.includes(part));
}

await benchMain(import.meta.url, ({ quick }) => runFfmBench({ quick, parts: partsWanted() }), text);
