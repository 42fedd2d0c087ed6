/** @file Cases of save_utils over savers of a session of a few variables. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../src/base/errors.js';
import { getCheckpointState } from '../../src/checkpoint/checkpoint-state-reader.js';
import { latestCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { checkpointExists } from '../../src/checkpoint/model-dir.js';
import { checkpointPrefix } from '../../src/checkpoint/names.js';
import { PartialRecoverySaver, type PartialRecoverySaverOptions } from '../../src/checkpoint/partial-recovery-saver.js';
import { SaveHelper } from '../../src/compat/save-utils.js';
import { Graph } from '../../src/graph/graph.js';
import { globalStep, variable } from '../../src/graph/ops/state.js';
import type { Session } from '../../src/runtime/session/session.js';
import { openSession } from '../runtime/with-session.js';
import type { Fields } from './case.js';

type Place = (dir: string, session: Session) => unknown;

/** Runs `body` in a folder of its own with a session of scalar variables, and whatever shapes are given. */
async function withVariables(shapes: Readonly<Record<string, readonly number[]>>, body: Place): Promise<unknown> {
  const dir = mkdtempSync(join(tmpdir(), 'save-utils-'));
  const graph = new Graph();
  for (const [name, shape] of Object.entries(shapes)) {
    const count = shape.reduce((product, size) => product * size, 1);
    variable(graph, { name, shape: [...shape], initial: () => new Float32Array(count) });
  }
  globalStep(graph);
  const session = await openSession(graph, { threads: 1 });
  try {
    return await body(dir, session);
  } finally {
    await session.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

export const failure = (call: () => unknown): Promise<string> =>
  Promise.resolve()
    .then(call)
    .then(
      () => 'no error',
      (error) => messageOf(error),
    );

const steps = (paths: readonly string[]) => paths.map((path) => SaveHelper.getGlobalStepValue(path));
const onDisk = (dir: string) =>
  steps(
    readdirSync(dir)
      .filter((name) => name.endsWith('.index'))
      .map((name) => name.slice(0, -6)),
  ).sort((a, b) => a - b);

/** Saves by a saver at steps, and looks after some of them. */
async function saveSequence(
  options: PartialRecoverySaverOptions,
  base: string,
  sequence: readonly number[],
  look: (step: number, dir: string, path: string | null) => unknown,
): Promise<void> {
  await withVariables({ v: [] }, async (dir, session) => {
    const saver = new PartialRecoverySaver(options);
    for (const step of sequence)
      await look(step, dir, await saver.save(session, join(dir, base), { globalStep: step }));
  });
}

export const SAVER_CASES: Readonly<Record<string, (input: Fields, expected: Fields) => unknown>> = {
  'existing checkpoint steps': async ({ saved_steps, exempt, max_to_keep }) => {
    let found: number[] = [];
    const options = { exemptCheckpointPaths: exempt as string[], maxToKeep: Number(max_to_keep) };
    await saveSequence(options, 'ckpt', saved_steps as number[], async (_, dir) => {
      found = await new SaveHelper(join(dir, 'ckpt')).getExistingCheckpointSteps();
    });
    return { steps: found };
  },
  'exempt checkpoints do not count': async ({ exempt, max_to_keep, save_sequence }) => {
    const after: Record<string, unknown> = {};
    const options = { exemptCheckpointPaths: exempt as string[], maxToKeep: Number(max_to_keep) };
    await saveSequence(options, 'ckpt', save_sequence as number[], (step, dir) => {
      if (step >= 50) after[`after_${step}`] = onDisk(dir);
    });
    return after;
  },
  'helper names': ({ basename: base, step }) => {
    const prefix = SaveHelper.getCkptPrefix(String(base), Number(step));
    return {
      prefix,
      asset_dir: SaveHelper.getCkptAssetDir(prefix),
      step_of_prefix: SaveHelper.getGlobalStepValue(prefix),
      step_of_name_without_dash: SaveHelper.getGlobalStepValue('model.ckpt'),
    };
  },
  'max_to_keep with one exempt checkpoint': async ({ base, exempt, max_to_keep, save_sequence }) => {
    const [returned, present]: [string[], Record<string, unknown>] = [[], {}];
    const options = { exemptCheckpointPaths: exempt as string[], maxToKeep: Number(max_to_keep) };
    await saveSequence(options, String(base), save_sequence as number[], (step, dir, path) => {
      returned.push(basename(path!));
      if (step >= 3) present[`present_after_${step}`] = onDisk(dir);
    });
    return { returned, ...present };
  },
  'int64 value survives': ({ values }) =>
    withVariables({}, async (dir, session) => {
      const saver = new PartialRecoverySaver({ varList: { v: 'global_step' } });
      session.writeVariable('global_step', BigInt64Array.of(BigInt(Number((values as Fields).v))));
      const path = await saver.save(session, join(dir, 's'));
      session.writeVariable('global_step', BigInt64Array.of(0n));
      await saver.restore(session, path);
      return { restored: { v: Number(session.readVariable('global_step')[0]) } };
    }),
  'relative paths survive a directory move': ({ save, rename, save_relative_paths }) =>
    withVariables({ v: [] }, async (dir, session) => {
      const [from, to] = (rename as string[]).map((name) => join(dir, name)) as [string, string];
      mkdirSync(from);
      const saver = new PartialRecoverySaver({ saveRelativePaths: Boolean(save_relative_paths) });
      await saver.save(session, join(dir, String(save)));
      const state_file = readFileSync(join(from, 'checkpoint'), 'utf8');
      const relative = (path: string | null) => join(basename(dirname(path!)), basename(path!));
      const latest_before = relative(await latestCheckpoint(from));
      renameSync(from, to);
      return { state_file, latest_before, latest_after: relative(await latestCheckpoint(to)) };
    }),
  'restore from a path that is no checkpoint': ({ path }, { error_starts_with }) =>
    withVariables({ v: [] }, async (_, session) => {
      const message = await failure(() => new PartialRecoverySaver().restore(session, String(path)));
      return { error_starts_with: message.slice(0, String(error_starts_with).length) };
    }),
  'global step suffix': ({ base, step }) => ({
    plain: checkpointPrefix(String(base), Number(step)),
    padded: checkpointPrefix(String(base), Number(step), true),
  }),
  'missing parent directory message': ({ path }) =>
    withVariables({ v: [] }, async (_, session) => {
      const error = await failure(() => new PartialRecoverySaver().save(session, String(path)));
      return { error, or_success: true };
    }),
  'duplicate names refused': async ({ cases }, { error_contains }) => {
    const texts = await Promise.all(
      (cases as Fields[]).map(({ list, map }) =>
        failure(() => new PartialRecoverySaver({ varList: (list ?? map) as string[] })),
      ),
    );
    return { error_contains: (error_contains as string[]).filter((text, i) => texts[i]!.includes(text)) };
  },
  'empty saver allowed': ({ allow_empty }) =>
    withVariables({}, async (dir, session) => {
      const saver = new PartialRecoverySaver({ varList: [], allowEmpty: Boolean(allow_empty) });
      const save_returns = await saver.save(session, join(dir, 's'));
      const restored = await failure(() => saver.restore(session, join(dir, 's')));
      return { save_returns, restore: restored === 'no error' ? 'no-op' : restored, files: readdirSync(dir) };
    }),
  'deferred build errors': (_, { a, b }) =>
    withVariables({ v: [] }, async (dir, session) => {
      const both = await failure(() => new PartialRecoverySaver({ varList: ['v'], deferBuild: true }));
      const early = await failure(() => new PartialRecoverySaver({ deferBuild: true }).save(session, join(dir, 's')));
      // Kinds are upstream's; here both are MonolithError with the code ML_SAVER.
      const found = (text: string, { kind, contains }: Fields) => ({
        kind,
        contains: text.includes(String(contains)) ? contains : text,
      });
      return { a: found(both, a as Fields), b: found(early, b as Fields) };
    }),
  'restore with reshape': ({ saved, target_shape }) =>
    withVariables({ v: [2, 3], w: target_shape as number[] }, async (dir, session) => {
      session.writeVariable('v', Float32Array.from((saved as number[][]).flat()));
      const path = await new PartialRecoverySaver({ varList: ['v'] }).save(session, join(dir, 's'));
      const into = { varList: { v: 'w' } };
      const off = await failure(() => new PartialRecoverySaver(into).restore(session, path));
      await new PartialRecoverySaver({ ...into, reshape: true }).restore(session, path);
      const [, columns] = target_shape as [number, number];
      const flat = [...session.readVariable('w')] as number[];
      return {
        reshape_off: off.endsWith('shapes must match') ? 'error (shapes must match)' : off,
        reshape_on: Array.from({ length: flat.length / columns }, (_, row) =>
          flat.slice(row * columns, (row + 1) * columns),
        ),
      };
    }),
  'rotation of two, same name saved again': ({ max_to_keep, saves }) =>
    withVariables({ v: [] }, async (dir, session) => {
      const saver = new PartialRecoverySaver({ maxToKeep: Number(max_to_keep) });
      const [last, state_current]: [string[][], string[]] = [[], []];
      for (const name of saves as string[]) {
        await saver.save(session, join(dir, name));
        last.push(saver.lastCheckpoints.map((path) => basename(path)));
        state_current.push(basename((await getCheckpointState(dir))!.modelCheckpointPath));
      }
      const names = ['s1', 's2', 's3'];
      return {
        last,
        state_current,
        exists_after_all: Object.fromEntries(names.map((name) => [name, checkpointExists(join(dir, name))])),
      };
    }),
  'max_to_keep none or zero keeps no list': async ({ max_to_keep, saves }) => {
    const results = await Promise.all(
      (max_to_keep as (number | null)[]).map((maxToKeep) =>
        withVariables({ v: [] }, async (dir, session) => {
          const saver = new PartialRecoverySaver({ maxToKeep });
          for (const name of saves as string[]) await saver.save(session, join(dir, name));
          const listed = (await getCheckpointState(dir))!.allModelCheckpointPaths.map((path) => basename(path));
          return {
            last: saver.lastCheckpoints,
            exists: (saves as string[]).filter((name) => checkpointExists(join(dir, name))),
            state_file_lists_only: listed.join(),
          };
        }),
      ),
    );
    if (JSON.stringify(results[0]) !== JSON.stringify(results[1])) throw new Error('none and zero differ');
    return results[0];
  },
  'meta graph can be left out': ({ write_meta_graph, save }) =>
    withVariables({ v: [] }, async (dir, session) => {
      const path = join(dir, String(save));
      await new PartialRecoverySaver().save(session, path, { writeMetaGraph: Boolean(write_meta_graph) });
      return { exists: checkpointExists(path) ? save : null, meta_file_exists: existsSync(`${path}.meta`) };
    }),
  'recover last checkpoints skips missing ones': ({ saved, delete: gone, recover, then_save }) =>
    withVariables({ v: [] }, async (dir, session) => {
      const first = new PartialRecoverySaver();
      for (const name of saved as string[]) await first.save(session, join(dir, name));
      rmSync(join(dir, `${gone}.index`));
      const saver = new PartialRecoverySaver();
      saver.recoverLastCheckpoints((recover as string[]).map((name) => join(dir, name)));
      const last = saver.lastCheckpoints.map((path) => basename(path));
      await saver.save(session, join(dir, String(then_save)));
      const state = (await getCheckpointState(dir))!;
      return {
        last,
        state_all: state.allModelCheckpointPaths.map((path) => basename(path)),
        state_current: basename(state.modelCheckpointPath),
      };
    }),
  'saved under mapped names': ({ saved, restore_names }, { error_contains }) =>
    withVariables({ v0: [], v1: [] }, async (dir, session) => {
      const names = restore_names as string[];
      const varList = Object.fromEntries(Object.keys(saved as Fields).map((name, i) => [name, names[i]!]));
      const saver = new PartialRecoverySaver({ varList });
      for (const [i, name] of names.entries()) {
        session.writeVariable(name, Float32Array.of(Number(Object.values(saved as Fields)[i])));
      }
      const path = await saver.save(session, join(dir, 's'));
      for (const name of names) session.writeVariable(name, Float32Array.of(0));
      const error = await failure(() => new PartialRecoverySaver({ varList: names }).restore(session, path));
      await saver.restore(session, path);
      return {
        error_contains: error.includes(String(error_contains)) ? error_contains : error,
        restore_with_prefix: Object.fromEntries(names.map((name) => [name, session.readVariable(name)[0]])),
      };
    }),
};
