/** Variables that a GPU has changed: how they come back, and that nobody waits for it. */
import t from 'tap';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import type { Tensor } from '../../src/graph/graph.js';
import { VARIABLES } from '../../src/graph/ops/state.js';
import { Arena } from '../../src/memory/arena.js';
import { ON_DEVICE, ON_HOST, RESIDENT } from '../../src/memory/placement-layout.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import type { CudaDriver } from '../../src/runtime/cuda/driver.js';
import { ResidentVariables } from '../../src/runtime/cuda/resident-variables.js';
import { Session } from '../../src/runtime/session.js';
import { buildFfm } from '../../src/train/models/ffm.js';
import { loadBatches, smallSession } from '../train/ffm-run.js';
import { withSimulated } from './simulated.js';

const CUDA = { backend: 'cuda', cuda: { driver: 'sim' } } as const;

t.test('what only the device has is copied by calls that do not block, once', async (t) => {
  const views = new Views(createSharedMemory(65536).buffer);
  const arena = new Arena('test', 1024, 32768);
  const address = arena.alloc(16, 'w');
  const calls: string[] = [];
  const driver = {
    synchronize: () => calls.push('synchronize'),
    download: () => calls.push('download'),
    downloadLater: async (to: Float32Array, from: { at(offset: number, bytes: number): number }) => {
      calls.push(`later from ${from.at(0, to.byteLength)}`);
      await new Promise(setImmediate);
      to.fill(7);
    },
  } as unknown as CudaDriver;
  const residents = new ResidentVariables(views, arena, driver, [address]);
  const values = views.f32.subarray(address / 4, address / 4 + 4);
  await residents.bringHome(address, values);
  t.same(calls, [], 'the host has it');
  const record = residents.address / 4;
  views.u32[record + RESIDENT.validity] = ON_DEVICE;
  views.u32[record + RESIDENT.deviceLow] = 48;
  views.u32[record + RESIDENT.deviceHigh] = 1;
  await Promise.all([residents.bringHome(address, values)]);
  await residents.bringHome(address, values);
  t.same([calls, [...values]], [[`later from ${2 ** 32 + 48}`], [7, 7, 7, 7]]);
  t.equal(views.u32[record + RESIDENT.validity], ON_DEVICE | ON_HOST);
});

t.test(
  'variables that steps on a device have changed are the same by a fetch, brought home, or read at once',
  withSimulated(async (t, driver) => {
    // Work that nobody waits for does not happen: a copy that is made too early has old values.
    driver.simulator.configure({ lazyStreams: true });
    const train = async (read: (session: Session, names: readonly string[]) => Promise<unknown[]>) => {
      const { graph, loss, trainOp } = buildFfm();
      const session = await Session.create(graph, smallSession(CUDA));
      for (const batch of loadBatches(session).slice(0, 3)) await session.run([loss, trainOp], batch);
      const found = await read(session, [...session.variableNames].sort());
      await session.close();
      return found;
    };
    const copies = (session: Session, names: readonly string[]) =>
      names.map((name) => session.readVariable(name).slice());
    const atOnce = await train(async (session, names) => copies(session, names));
    const home = await train(async (session, names) => {
      await session.bringVariablesHome();
      session.residents!.bringHomeNow = () => t.fail('nothing is left to wait for');
      snapshotSession(session, 'ffm');
      return copies(session, names);
    });
    t.same(home, atOnce);
    t.ok(atOnce.some((values) => (values as Float32Array).some((value) => Number(value) !== 0)));
  }),
);

t.test(
  'fetching a variable waits for nothing on this thread',
  withSimulated(async (t) => {
    const { graph, loss, trainOp } = buildFfm();
    const session = await Session.create(graph, smallSession(CUDA));
    const variables = graph.getCollection<Tensor>(VARIABLES);
    const [batch] = loadBatches(session);
    session.residents!.bringHomeNow = () => t.fail('it is there already');
    await session.run([loss, trainOp, ...variables], batch!);
    t.ok(session.residents!.count > 0);
    await session.close();
  }),
);
