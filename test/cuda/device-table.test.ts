import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { PolynomialDecay } from '../../src/base/rates/schedules.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { ConstantsInitializer, RandomUniformInitializer } from '../../src/sparse/config/initializers.js';
import * as optimizers from '../../src/sparse/config/optimizers.js';
import type { SegmentOptions } from '../../src/sparse/config/table-config.js';
import { restoreTable } from '../../src/sparse/files/restore-table.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { raggedOf, withSession } from '../runtime/with-session.js';
import { trainFfm } from '../train/ffm-run.js';
import {
  ALL_OPTIMIZERS,
  apart,
  batch,
  CPU,
  DEVICE,
  filesOf,
  HOST,
  model,
  random,
  trained,
} from './device-table-model.js';
import { withSimulated } from './simulated.js';

// Hundreds of steps in the simulator: long on a busy machine.
t.setTimeout(300_000);
const LOSS_TOLERANCE = 1e-5;
const STEPS = 40;

t.test(
  'the demo model trains with tables on the device as with tables on the host',
  withSimulated(async (t) => {
    const cpu = await trainFfm({ steps: STEPS, session: CPU });
    const host = await trainFfm({ steps: STEPS, session: HOST });
    const device = await trainFfm({ steps: STEPS, session: DEVICE });
    t.equal(device.length, STEPS);
    t.ok(apart(device, cpu) <= LOSS_TOLERANCE, `losses are ${apart(device, cpu)} apart`);
    t.ok(apart(device, host) <= LOSS_TOLERANCE, `losses are ${apart(device, host)} apart`);
    t.ok(device.at(-1)! < device[0]!, 'and they fall');
  }),
);

t.test(
  'checkpoints move between tables of the device, tables of the host, and the CPU',
  withSimulated(async (t) => {
    const straight = await trainFfm({ steps: 8, session: CPU });
    const ways = { cpu: CPU, host: HOST, device: DEVICE };
    for (const [first, then] of [
      ['device', 'cpu'],
      ['device', 'host'],
      ['device', 'device'],
      ['cpu', 'device'],
      ['host', 'device'],
    ] as const) {
      const modelDir = await mkdtemp(join(tmpdir(), 'device-table-'));
      try {
        const losses = [
          ...(await trainFfm({ steps: 4, session: ways[first], modelDir })),
          ...(await trainFfm({ steps: 4, session: ways[then], modelDir })),
        ];
        t.ok(apart(losses, straight) <= LOSS_TOLERANCE, `${first}, then ${then}: ${apart(losses, straight)} apart`);
      } finally {
        await rm(modelDir, { recursive: true });
      }
    }
  }),
);

t.test(
  'every optimizer steps rows of the device as those of the CPU, beside others in a row, at rates that change',
  withSimulated(async (t) => {
    const segments = Object.values(ALL_OPTIMIZERS).map((optimizer, index): SegmentOptions => {
      const learningRate =
        index % 3 === 0
          ? new PolynomialDecay({ initialLearningRate: 0.1, decaySteps: 40, endLearningRate: 0.01 })
          : 0.05;
      return {
        dim: 1 + (index % 4),
        optimizer,
        initializer: index % 2 ? random : ConstantsInitializer(0.5),
        learningRate,
      };
    });
    const wanted = await trained(model(segments), CPU);
    const found = await trained(model(segments), DEVICE);
    t.equal(found.size, wanted.rows.length);
    t.ok(wanted.rows.length > 30, `${wanted.rows.length} rows`);
    t.same(
      found.rows.map(({ id, lastUpdateSec }) => [id, lastUpdateSec]),
      wanted.rows.map(({ id, lastUpdateSec }) => [id, lastUpdateSec]),
    );
    t.ok(apart(found.shown, wanted.shown) <= 1e-5, `lookups are ${apart(found.shown, wanted.shown)} apart`);
    const floats = ({ rows }: typeof found) => rows.flatMap((row) => row.floats);
    t.ok(apart(floats(found), floats(wanted)) <= 1e-5, `rows are ${apart(floats(found), floats(wanted))} apart`);
  }),
);

t.test(
  'a table grows on the device, whatever the order of blocks and of works, and gives the same rows',
  withSimulated(async (t, driver) => {
    const segments = [{ dim: 6, optimizer: ALL_OPTIMIZERS.adam!, initializer: random, learningRate: 0.1 }];
    const wanted = await trained(model(segments), CPU);
    for (const controls of [{}, { lazyStreams: true, seed: 5, residentBlocks: 3, quantum: 64 }]) {
      driver.simulator.configure(controls);
      const found = await trained(model(segments), { ...HOST, useGpuEmbTable: { rows: 2, grows: true } });
      t.equal(found.size, wanted.rows.length);
      t.ok(
        found.rows.every(
          (row, index) => row.id === wanted.rows[index]!.id && apart(row.floats, wanted.rows[index]!.floats) <= 1e-5,
        ),
      );
    }
  }),
);

t.test(
  'rows that are rounded stay on the host and are rounded there; delay compensation is refused before any backend',
  withSimulated(async (t) => {
    const optimizer = optimizers.withStochasticRounding(optimizers.AdagradOptimizer());
    const made = () => model([{ dim: 3, optimizer, initializer: RandomUniformInitializer(-1, 1) }]);
    const [host, cpu] = [await trained(made(), HOST), await trained(made(), CPU)];
    t.same(host.rows, cpu.rows, 'as on the CPU');
    const stepped = host.rows
      .flatMap(({ floats }) => floats.slice(0, 3))
      .filter((weight) => Math.abs(weight) > 2 ** -14);
    t.ok(stepped.length > 100);
    const words = new Uint32Array(Float32Array.from(stepped).buffer);
    t.ok(
      words.every((word) => (word & 0x1fff) === 0),
      'every weight fits half precision',
    );
    const compensated = { dim: 2, optimizer: { dc: { lambda_: 0.1 } } };
    t.throws(() => model([compensated]), { code: 'ML_OPTIMIZER', message: /dc \{ lambda_: 0.1 \}/ });
  }),
);

t.test(
  'gradients that are not finite are passed over and counted, or end the session',
  withSimulated(async (t) => {
    const { graph, config, train } = model([
      { dim: 2, initializer: ConstantsInitializer(1), optimizer: ALL_OPTIMIZERS.sgd!, learningRate: 1 },
    ]);
    const none = raggedOf([[], []]);
    const feeds = { ids: raggedOf([[1n], [2n]]), other: none, seed: Float32Array.of(Number.NaN, 1, 1, 1) };
    await withSession(graph, DEVICE, async (session) => {
      await session.run([train], feeds);
      const table = HashTable.of(session, config);
      t.equal(table.badGradientRows, 1);
      t.same(
        [...table.rows()].map(({ id, weights }) => [id, ...weights]),
        [
          [1n, 1, 1],
          [2n, 0, 0],
        ],
      );
    });
    await withSession(graph, { ...DEVICE, tablePolicy: { badGradients: 'fail' } }, async (session) => {
      await t.rejects(session.run([train], feeds), { code: 'ML_GRADIENT' });
    });
  }),
);

t.test(
  'the host reads and writes rows between steps, and the device goes on with what it wrote',
  withSimulated(async (t) => {
    const one = { dim: 2, initializer: ConstantsInitializer(1), optimizer: ALL_OPTIMIZERS.sgd!, learningRate: 1 };
    const { graph, config, lookups, train } = model([one], { defaultExpireTime: 3 });
    const step = (...ids: bigint[]) => ({ ids: raggedOf([ids]), other: raggedOf([[]]), seed: Float32Array.of(1, 2) });
    const ids = BigInt64Array.of(1n, 2n, 3n);
    const table = await withSession(graph, DEVICE, async (session) => {
      const table = HashTable.of(session, config);
      const look = async () => [...((await session.run(lookups, step(1n, 3n)))[0] as Float32Array)];
      t.ok(table.isAway);
      table.assign(ids.subarray(0, 1), Float32Array.of(5, 6), { timeSec: 86400 });
      await session.run([train], step(1n, 2n));
      t.same(table.size, 2);
      t.same([...table.lookup(ids)], [4, 4, 0, -1, 0, 0]);
      t.same(await look(), [4, 4], 'an absent id reads as zeros and gets no row');
      table.assign(ids.subarray(2), Float32Array.of(10, 20), { timeSec: 5 * 86400 });
      t.same(await look(), [14, 24]);
      await session.run([train], step(3n));
      t.equal(table.evict(6 * 86400), 2, 'rows that steps have not seen for long are gone');
      t.same(await look(), [9, 18]);
      t.equal(table.remove(ids), 1);
      t.equal(table.size, 0);
      await session.run([train], step(2n));
      t.same(
        [...table.rows()].map(({ id, weights }) => [id, ...weights]),
        [[2n, 0, -1]],
      );
      t.throws(() => table.handle, { code: 'ML_GPU_TABLE' });
      await session.run([train], step(2n));
      return table;
    });
    t.throws(() => table.size, { code: 'ML_CLOSED', hint: /before the session is closed/ });
  }),
);

t.test(
  'what is restored to a device and saved again is the same bytes',
  withSimulated(async (t) => {
    const dir = await mkdtemp(join(tmpdir(), 'saved-'));
    // Without decay a gradient of zeros changes nothing.
    const one = {
      dim: 6,
      optimizer: optimizers.AdagradOptimizer({ initialAccumulatorValue: 0.1 }),
      initializer: random,
    };
    const bytes = async (name: string) => Buffer.concat([...(await filesOf(dir, name)).values()]);
    /** Restores what is there, steps rows by nothing, which makes the device's the newest, and saves. */
    const restored = async (options: Partial<SessionOptions>, from: string, to: string) => {
      const { graph, config, dim, train } = model([one]);
      await withSession(graph, { threads: 1, ...options }, async (session) => {
        const table = HashTable.of(session, config);
        if (from === '') for (let step = 0; step < 10; step++) await session.run([train], batch(step, dim));
        else {
          await restoreTable(table, join(dir, from));
          await session.run([train], { ...batch(2, dim), seed: new Float32Array(5 * dim) });
        }
        await saveTable(table, join(dir, to));
      });
    };
    try {
      await restored(DEVICE, '', 'first');
      await restored(DEVICE, 'first', 'device');
      await restored(CPU, 'device', 'cpu');
      await restored(HOST, 'cpu', 'host');
      await restored(DEVICE, 'host', 'again');
      const first = await bytes('first');
      t.ok(first.length > 30 * 60, `${first.length} bytes`);
      for (const name of ['device', 'cpu', 'host', 'again']) t.ok((await bytes(name)).equals(first), name);
    } finally {
      await rm(dir, { recursive: true });
    }
  }),
);
