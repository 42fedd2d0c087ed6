/** @file Starts what a session runs on: its backend, kernels, memories, threads and compiler. */
import type { Graph } from '../../graph/graph.js';
import { chooseKernels } from '../backends/wasm/choose-kernels.js';
import type { KernelVariant } from '../backends/wasm/kernel-variants.js';
import { loadLowerings } from '../compile/late-lowerings.js';
import { ThreadPool } from '../pool/thread-pool.js';
import { checkSession } from './check-session.js';
import { cutOf, planOf } from './cut-options.js';
import { explainFailure } from './explain-failure.js';
import { type OpenedBackend, openBackend } from './open-backend.js';
import { Programs } from './programs.js';
import { SessionCore } from './session-core.js';
import { reserveMemories } from './session-memories.js';
import type { SessionOptions } from './session-options.js';
import { SessionRuns } from './session-runs.js';

const STEP_TIMEOUT_MS = 300_000;

/** The parts of a session that runs. */
export interface RunningParts {
  readonly core: SessionCore;
  readonly pool: ThreadPool;
  readonly runs: SessionRuns;
  readonly backend: OpenedBackend;
  readonly kernelVariant: KernelVariant;
}

/** Makes the memory, initialises the variables and starts the threads. */
export async function startSession(graph: Graph, options: SessionOptions): Promise<RunningParts> {
  checkSession(graph, options);
  const backend = await openBackend(options);
  const { name, opened } = backend;
  const { variant, module } = await chooseKernels(opened.plainKernels ? { kernels: 'plain' } : options);
  await loadLowerings();
  const cut = cutOf(options);
  const { memory, tables } = await reserveMemories(options, module);
  const core = new SessionCore({ graph, options, backend: opened, memory, module, tables });
  const pool = await ThreadPool.start({
    threads: core.plan.threads,
    backend: name,
    told: core.backend.told,
    memory,
    module,
    ...(tables !== undefined && { tables: tables.handle }),
    control: core.control,
    traceRings: core.trace.poolRings,
    traceWait: core.trace.waitName,
    explain: (result, thread) => explainFailure(core, result, thread),
  });
  const programs = new Programs(core, cut && planOf(cut));
  const runs = new SessionRuns(core, pool, programs, { cut, timeoutMs: options.stepTimeoutMs ?? STEP_TIMEOUT_MS });
  return { core, pool, runs, backend, kernelVariant: variant };
}
