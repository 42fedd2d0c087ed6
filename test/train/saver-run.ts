/** @file Models of a few variables and tables, trained a step between a restore and a save by PartialRecoverySaver. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  CheckpointRestorerHook,
  NoFirstSaveCheckpointSaverHook,
  PartialRecoverySaver,
} from '../../src/compat/index.js';
import { Graph, type Op } from '../../src/graph/graph.js';
import { globalStep, increment, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import type { Session } from '../../src/runtime/session/session.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { defineTable, type TableConfig } from '../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import type { CheckpointRestorerListener } from '../../src/train/hooks/checkpoint-restorer.js';
import type { CheckpointSaverListener } from '../../src/train/hooks/saver-listener.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { openSession } from '../runtime/with-session.js';

export interface Model {
  readonly graph: Graph;
  readonly step: Op;
  readonly tables: readonly TableConfig[];
}

/** Variables on two servers, and tables of dimension 1, one of whose names begins with the other's. */
export function modelOf(
  tables: readonly [string, readonly string[]][],
  variables = ['v0', 'v1'],
  isFiltered = false,
): Model {
  const graph = new Graph();
  for (const [server, name] of variables.entries()) {
    graph.device(`/job:ps/task:${server}/device:CPU:0`, () => {
      variable(graph, { name, shape: [2], initial: () => new Float32Array(2) });
    });
  }
  const configs = tables.map(([name, extraRestoreNames]) => {
    const config = defineTable(name, [{ dim: 1, initializer: ZerosInitializer() }], {
      defaultExpireTime: 1,
      extraRestoreNames,
    });
    return isFiltered
      ? { ...config, admission: { thresholds: { defaultOccurrenceThreshold: 2 }, capacity: 300 } }
      : config;
  });
  for (const [i, config] of configs.entries()) {
    embeddingLookup(raggedPlaceholder(graph, { name: `ids${i}`, valuesPerRow: 1 }), config);
  }
  return { graph, step: increment(globalStep(graph)) as Op, tables: configs };
}

export interface Run {
  readonly dir: string;
  readonly savers?: readonly CheckpointSaverListener[];
  readonly restorers?: readonly CheckpointRestorerListener[];
  readonly sharded?: boolean;
}

/** One step of the model between a restore and a save; `body` sees the session before the step. */
export async function run({ graph, step }: Model, how: Run, body: (session: Session) => void): Promise<void> {
  const saver = new PartialRecoverySaver({ sharded: how.sharded ?? false });
  const restores = {
    beforeRestore: async (session: Session) => {
      const newest = readdirSync(how.dir)
        .filter((name) => name.endsWith('.index'))
        .sort()
        .at(-1);
      if (newest !== undefined) await saver.restore(session, join(how.dir, newest.slice(0, -6)));
    },
  };
  const hooks = [
    new CheckpointRestorerHook([...(how.restorers ?? []), restores]),
    new NoFirstSaveCheckpointSaverHook({
      modelDir: how.dir,
      modelName: 'm',
      saver,
      listeners: how.savers ?? [],
    }),
  ];
  const monitored = await MonitoredSession.create({
    graph,
    hooks,
    createSession: () => openSession(graph, { threads: 1 }),
  });
  try {
    body(monitored.session);
    await monitored.run([step]);
  } finally {
    await monitored.close();
  }
}
