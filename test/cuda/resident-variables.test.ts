/** Variables that a GPU has changed: how they come back, and that nobody waits for it. */
import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { group, placeholder, variable } from '../../src/graph/ops/state.js';
import { Arena } from '../../src/memory/arena.js';
import { ON_DEVICE, ON_HOST, RESIDENT } from '../../src/memory/placement-layout.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import type { CudaDriver } from '../../src/runtime/backends/cuda/driver.js';
import { ResidentVariables } from '../../src/runtime/backends/cuda/resident-variables.js';
import type { FeedMap } from '../../src/runtime/session/feed-writer.js';
import type { Fetch, Session } from '../../src/runtime/session/session.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { withSession } from '../runtime/with-session.js';
import { withSimulated } from './simulated.js';

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

/** A layer that is trained for three steps on the device, and what `read` makes of it then. */
const homesOf = (session: Session) => coreOf(session).backend.variables!;

function trained<R>(read: (session: Session, w: Tensor, step: readonly Fetch[], x: FeedMap) => Promise<R>): Promise<R> {
  const graph = new Graph();
  const w = variable(graph, { name: 'w', shape: [5, 3], initial: () => new Float32Array(15).fill(0.25) });
  const loss = reduceMean(matMul(placeholder(graph, { name: 'x', width: 5 }), w));
  const [grad] = gradients([loss], [w]) as Tensor[];
  const train = group(graph, applyGradients([[grad!, w]], AdagradOptimizer({ learningRate: 0.1 }))) as Op;
  const x = { x: Float32Array.from({ length: 10 }, (_, i) => i - 3) };
  return withSession(graph, { backend: 'cuda', cuda: { driver: 'sim' } }, async (session) => {
    for (let step = 0; step < 3; step++) await session.run([loss, train], x);
    if (!homesOf(session).isAway(coreOf(session).variable(w))) throw new Error('the device has not changed the weight');
    return read(session, w, [loss, train], x);
  });
}

t.test(
  'a variable that steps on a device have changed is the same brought home and read at once',
  withSimulated(async (t, driver) => {
    // Work that nobody waits for does not happen: a copy that is made too early has old values.
    driver.simulator.configure({ lazyStreams: true });
    const atOnce = await trained(async (session) => session.readVariable('w').slice());
    const home = await trained(async (session) => {
      await session.bringVariablesHome();
      homesOf(session).bringHomeNow = () => t.fail('nothing is left to wait for');
      return session.readVariable('w').slice();
    });
    t.same(home, atOnce);
    t.ok(atOnce.some((value) => value !== 0.25));
  }),
);

t.test(
  'fetching a variable waits for nothing on this thread',
  withSimulated(async (t) => {
    await trained(async (session, w, step, x) => {
      homesOf(session).bringHomeNow = () => t.fail('it is there already');
      const values = (await session.run([...step, w], x))[2] as Float32Array;
      t.same([...values], [...session.readVariable('w')]);
      t.notOk(homesOf(session).isAway(coreOf(session).variable(w)));
    });
  }),
);
