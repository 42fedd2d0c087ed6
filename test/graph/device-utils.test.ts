import t from 'tap';
import {
  defaultDeviceFn,
  deviceRule,
  disableGpuTraining,
  enableGpuTraining,
  getDeviceFn,
  getDeviceStr,
  getVisibleGpus,
  inputDeviceFn,
  maybeDeviceIfAllowed,
  modelDeviceFn,
  servingInputDeviceFn,
  skipDevice,
  withinPlacementContextOf,
} from '../../src/graph/device-utils.js';
import { Graph } from '../../src/graph/graph.js';
import { constant } from '../../src/graph/ops/state.js';

const product = { name: 'a', type: 'MatMul' };
const summary = { name: 'b', type: 'ScalarSummary' };
const under = (rank: number) => ({ OMPI_COMM_WORLD_LOCAL_RANK: '0', OMPI_COMM_WORLD_RANK: String(rank) });
const made = (graph: Graph) => constant(graph, [1], { shape: [] }).op.device;

t.afterEach(() => disableGpuTraining());

t.test('A30: devices that are not allowed become the CPU of the same task', async (t) => {
  t.equal(deviceRule(''), '/device:CPU:0', 'the CPU is the default');
  t.equal(deviceRule('/job:worker/task:1/device:GPU:0'), '/job:worker/task:1/device:CPU:0');
  t.equal(deviceRule('/job:ps/task:2'), '/job:ps/task:2/device:CPU:0');
  enableGpuTraining();
  t.equal(deviceRule('/job:worker/task:1/device:GPU:0'), '/job:worker/task:1/device:GPU:0');
  t.equal(defaultDeviceFn('/device:GPU:0')(product), '/device:GPU:0');
  t.equal(defaultDeviceFn('/device:GPU:0')(summary), '/device:CPU:0');
});

t.test('A30: the GPU that a process of a host sees', async (t) => {
  const cases = [
    [2, 1, '2'],
    [1, 2, '0'],
    [2, 2, '1'],
    [3, 2, '1'],
  ] as const;
  for (const [rank, perGpu, gpu] of cases) t.equal(getVisibleGpus(rank, perGpu), gpu);
  t.equal(getVisibleGpus(3), '3');
  t.throws(() => getVisibleGpus(1, 0), { code: 'ML_FLAG' });
});

t.test('a rule around a graph holds for what is asked for inside of it', async (t) => {
  const graph = new Graph();
  const asked = () => graph.device('/device:GPU:0', () => made(graph));
  t.equal(graph.device(defaultDeviceFn(), asked), '/device:CPU:0');
  t.equal(
    graph.device(defaultDeviceFn(), () => graph.device('/job:worker/task:3', asked)),
    '/job:worker/task:3/device:CPU:0',
  );
  enableGpuTraining();
  t.equal(graph.device(defaultDeviceFn(), asked), '/device:GPU:0');
  t.equal(
    graph.device(defaultDeviceFn(), () => made(graph)),
    '/device:CPU:0',
  );
});

t.test('a scope for what may not be allowed, and the type of the scope one is in', async (t) => {
  const graph = new Graph();
  const inside = () => [made(graph), withinPlacementContextOf(graph, 'gpu')];
  t.same(maybeDeviceIfAllowed(graph, '/device:GPU:1', inside), ['/device:CPU:0', false]);
  enableGpuTraining();
  t.same(maybeDeviceIfAllowed(graph, '/device:GPU:1', inside), ['/device:GPU:1', true]);
  t.equal(withinPlacementContextOf(graph, 'CPU'), false, 'outside of any scope there is no device');
  t.equal(
    graph.device(defaultDeviceFn(), () => withinPlacementContextOf(graph, 'cpu')),
    true,
  );
});

t.test('ops of training processes are placed by who the process is', async (t) => {
  const task = { job: 'worker', index: 2 };
  const env = under(3);
  t.throws(() => getDeviceFn({ sync: true, task, numPs: 1, env: {} }), {
    code: 'ML_SYNC_MPI',
    message: 'sync training must running under mpi mode',
  });
  const partial = getDeviceFn({ sync: true, task, numPs: 1, env })!;
  t.equal(partial(product), '/job:worker/task:2/device:CPU:0', 'no GPU is allowed');
  enableGpuTraining();
  t.equal(partial(product), '/job:worker/task:2/device:GPU:0');
  t.equal(partial({ ...product, device: '/device:CPU:0' }), '/job:worker/task:2/device:CPU:0', 'what is asked for');
  t.equal(partial(summary), '/job:worker/task:2/device:CPU:0');
  t.equal(getDeviceFn({ sync: true, task, env })!(product), '/device:CPU:0', 'without servers by the default rule');
  disableGpuTraining();
  t.equal(getDeviceFn({ sync: false, env }), null, 'a process alone places nothing');
  const cluster = getDeviceFn({ sync: false, task, numPs: 2, env })!;
  const placed = ['Variable', 'Variable', 'MatMul', 'Variable'].map((type) => cluster({ name: 'c', type }));
  t.same(placed, ['/job:ps/task:0', '/job:ps/task:1', '/job:worker/task:2', '/job:ps/task:0']);
  const graph = new Graph();
  t.equal(
    graph.device(partial, () => made(graph)),
    '/job:worker/task:2/device:CPU:0',
  );
});

t.test('the device of what processes exchange', async (t) => {
  t.equal(getDeviceStr(false, { sync: false, env: {} }), '/device:CPU:0');
  enableGpuTraining();
  t.equal(getDeviceStr(false, { sync: false, env: {} }), '/device:GPU:0');
  t.equal(getDeviceStr(true, { sync: false, env: {} }), '/device:CPU:0');
  t.equal(getDeviceStr(false, { sync: true, numPs: 2, env: under(0) }), '/job:chief/replica:0/task:0/device:GPU:0');
  t.equal(getDeviceStr(true, { sync: true, numPs: 2, env: under(3) }), '/job:worker/replica:0/task:2/device:CPU:0');
  t.equal(getDeviceStr(false, { sync: true, env: under(3) }), '');
});

t.test('inputs are on the host, models on the device, and serving inputs where they say', async (t) => {
  t.equal(inputDeviceFn({ sync: false, env: {} })(product), '/device:CPU:0');
  t.equal(inputDeviceFn({ sync: true, numPs: 1, env: under(1) })(product), '/job:worker/replica:0/task:0/device:CPU:0');
  t.equal(modelDeviceFn(product), '/device:CPU:0');
  enableGpuTraining();
  t.equal(modelDeviceFn(product), '/device:GPU:0');
  t.equal(modelDeviceFn({ ...product, device: '/job:ps/device:CPU:0' }), '/job:ps/device:CPU:0');
  t.equal(modelDeviceFn(summary), '/device:CPU:0');
  t.equal(servingInputDeviceFn(product), '/device:CPU:0');
  t.equal(servingInputDeviceFn({ ...product, device: '/device:GPU:0' }), '/device:GPU:0');
  t.ok(skipDevice({ name: 's', type: 'WriteScalar' }) && !skipDevice(product));
});
