/**
 * @file The reference's names exist in `monolith-ts/compat`, and those that are made for it do what the reference does.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import * as compat from '../../src/compat/index.js';
import { Graph } from '../../src/graph/graph.js';
import { sessionRegion } from '../../src/runtime/session/session-handle.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { inverseRoot, precondition } from '../optim/plain-shampoo.js';
import { withSession } from '../runtime/with-session.js';

/** Names of the reference that are here, in camelCase, by the module they come from. */
const NAMES: Readonly<Record<string, string>> = {
  'core/hyperparams': 'Params InstantiableParams copyParamsTo updateParams allowedKwargs',
  'native_training/utils': `psDevice PS_JOB_NAME propagateBackGradients propagateBackDictGradients getNdim intShape
    extendAsList checkList toSnakeCase addToCollections getCollection setMetricPrefix getMetricPrefix getTestTmpDir
    getDebuggingInfoFileName getMetaGraphFileName checkOpsDependence withParams getUname getLocalHost toList`,
  'native_training/device_utils': `enableGpuTraining disableGpuTraining isGpuTraining defaultDeviceFn getDeviceFn
    getVisibleGpus tryInitCuda maybeDeviceIfAllowed withinPlacementContextOf inputDeviceFn modelDeviceFn
    servingInputDeviceFn getDeviceStr skipDevice`,
  'native_training/distribution_utils': 'getMpiRank getMpiSize getMpiLocalRank getMpiLocalSize',
  'monolith/runners': 'BaseRunner GPURunner TPURunner registerRunnerTask createRunnerTask',
  'native_training/estimator': 'Estimator EstimatorSpec RunConfig',
  'native_training/cpu_training': 'CpuTrainingConfig DistributedCpuTrainingConfig',
  'native_training/variables': `cachedVariableCreator fetchAllCachedVariables assignAllCachedVariables
    FetchAllCachedVariablesHook`,
  'native_training/nested_tensors': 'NestedTensors',
  'native_training/ragged_utils': 'fusedValueRowids',
  'native_training/static_reshape_op': 'staticReshape StaticReshapeNBuilder',
  'native_training/tensor_utils': `maybeSqueeze3dTensor packTensors splitTensorsWithType packTypedKeyedTensors
    unpackTensors unpackPackedTensors mergeDicts`,
  'native_training/prefetch_queue': 'EnqueueHook AsyncPushHook AsyncFunctionMgr',
  'native_training/session_run_hooks': 'before tideAvailableNow CustomGlobalStepWaiterHook TideStoppingHook',
  'native_training/sync_hooks': 'SyncHelper ChiefSyncHook WorkerSyncHook TrainingHooksHelper',
  'native_training/barrier_ops': 'BarrierOp BarrierHook',
  'native_training/save_utils': 'SaveHelper NoFirstSaveCheckpointSaverHook',
  'native_training/touched_key_set_ops': `TouchedKeySet createTouchedKeySet TOUCHED_KEY_SET_CAPACITY
    TOUCHED_KEY_SET_CONCURRENCY_LEVEL`,
  'native_training/hash_table_ops': `HashTable HashTableConfigInstance fusedLookup fusedApplyGradient
    extractSlotFromEntry hashTableFromConfig testHashTable`,
  'native_training/hash_table_utils': 'iterateTableAndApply inferDimSize',
  'native_training/hash_filter_ops': `HashFilter ProbabilisticFilter DummyFilter FilterType createHashFilter
    createProbabilisticFilter createDummyHashFilter createHashFilters saveHashFilter restoreHashFilter interceptGradient
    HASH_FILTER_CAPACITY HASH_FILTER_SPLIT_NUM`,
  'native_training/multi_hash_table_ops': 'MultiHashTable',
  'native_training/multi_type_hash_table': 'MultiTypeHashTable MergedMultiTypeHashTable',
  'native_training/distributed_ps': 'DistributedHashTable DistributedMultiTypeHashTable PartitionedHashTable',
  'native_training/distributed_ps_sync': 'DistributedMultiTypeHashTableMpi',
  'native_training/entry': `AdagradOptimizer SgdOptimizer FtrlOptimizer DynamicWdAdagradOptimizer AdadeltaOptimizer
    AdamOptimizer AmsgradOptimizer MomentumOptimizer MovingAverageOptimizer RmspropOptimizer RmspropV2Optimizer
    FTRLWithGroupSparsityOptimizer BatchSoftmaxOptimizer AdaGradWithGroupLassoOptimizer ZerosInitializer OnesInitializer
    ConstantsInitializer RandomUniformInitializer BatchSoftmaxInitializer Fp32Compressor Fp16Compressor
    FixedR8Compressor OneBitCompressor CombineAsSegment StochasticRoundingFloat16OptimizerWrapper`,
  'native_training/learning_rate_functions': 'LearningRateFunction PolynomialDecay',
  'native_training/feature': 'FeatureSlot FeatureColumn FeatureFactory createEmbeddingSlices',
  'native_training/feature_utils': 'applyGradientsWithVarOptimizer applyGradients GradClipType',
  'native_training/embedding_combiners': 'ReduceSum ReduceMean FirstN',
  'native_training/optimizers/shampoo': 'eigenInverseRoot applySparsePrecond',
  'native_training/test_utils': 'generateTestHashTableConfig profileIt',
  'native_training/layers': 'Dense MLP SeNet Cross CIN MMoE',
  'native_training/runner_utils': 'isabs RunnerConfig ContainerType addMpiExceptionHook copyCkptFile',
  'native_training/fused_embedding_to_layout': 'fusedEmbeddingToLayout fusedEmbeddingToLayoutGrad normalizeMergedSplit',
  'native_training/sharding_sparse_fids': 'shardingSparseFids',
  'monolith/utils': 'copyFile copyRecursively findMain findMainByMarkers getLibopsPath',
};
/** Those that share a name with another module, in a namespace. */
const NAMESPACED: Readonly<Record<string, string>> = {
  optimizers: 'AdamomOptimizer RmspropOptimizer ShampooOptimizer AdamOptimizer FtrlOptimizer',
  distributionOps: `reduceSum reduceMean reduceSqrtn splitByIndices raggedSplitByIndices reorderByIndices
    fusedReorderByIndices mapIdToEmbedding gatherEmbeddingsByInput
    mapIdToEmbeddingGradientBackProp fusedGatherEmbeddingsByInput fusedGatherEmbeddingsByInputGradient
    fusedSortedSegmentSum fusedReduceSumAndSplit finalizeSharedTensor fillWithOffsetMapGradient
    uniqueKeyWithValueAndOffset fillWithOffsetMap clipByGlobalNorm ffm genSeqMask inbatchAucLoss featureInsight
    fidCounter`,
  utils: 'params',
  gflagsUtils: 'extractHelpInfo extractFlags update linkDataclassToFlags updateByFlags FLAGS',
};

/** Names that modules of the reference have besides: their rows of docs/parity.md do not say yes. */
const ABSENT: Readonly<Record<string, string>> = {
  estimator: 'importSavedModel',
  net_utils: `NodeAliveChecker isIpv6Address concatIpAndPort getLocalIp isIpv4Supported getLocalServerAddr
    AddressFamily`,
  ps_benchmark: 'BenchmarkConfig PsBenchMarkTask',
  runner_utils: 'genGetCheckpointState getDiscovery monolithDiscovery',
  save_utils: 'PsMonitor SaverBuilder',
  service_discovery: `ServiceDiscovery ConsulServiceDiscovery TfConfigServiceDiscovery ZKServiceDiscovery
    MLPServiceDiscovery deregisterAll`,
  sync_training_hooks: `SyncTrainingBarrierSaverListener ParameterSyncHook SyncTrainingForceDumpHook
    SyncTrainingSaverControlHook SyncTrainingInfoHook ReqTimeControlDumpHook`,
  test_utils: 'createTestPsCluster',
  tpu_runner: 'createTpuEstimator createTpuEstimatorOnCpu',
  'utils (monolith)': 'enableMonkeyPatch',
  variables: 'CachedVariableMeta',
  yarn_runtime: 'maybeKillApplication maybeFinishApplication createPrimusSavePoint',
  zk_utils: 'isIpv6Only defaultZkServers MonolithKazooClient clearZkPath',
};

t.test('a module of which names are missing is not said to be here', async (t) => {
  const page = readFileSync(new URL('../../../docs/parity.md', import.meta.url), 'utf8');
  const rows = new Map(
    [...page.matchAll(/^\| ([^|]+?) \| (yes|partly|no|n\/a) \|/gm)].map(([, name, here]) => [name, here]),
  );
  for (const [module, names] of Object.entries(ABSENT)) {
    const missing = names.split(/\s+/).filter((name) => !(name in compat));
    if (missing.length > 0) t.match(rows.get(module) ?? '', /^(partly|no)$/, `${module}: without ${missing}`);
    else t.equal(rows.has(module), true, module);
  }
});

t.test('every name of the reference that is here is exported', async (t) => {
  const exported = compat as unknown as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  for (const [module, names] of Object.entries(NAMES)) {
    for (const name of names.split(/\s+/)) t.not(exported[name], undefined, `${module}: ${name}`);
  }
  for (const [namespace, names] of Object.entries(NAMESPACED)) {
    for (const name of names.split(/\s+/)) t.not(exported[namespace]?.[name], undefined, `${namespace}.${name}`);
  }
});

t.test('createTouchedKeySet makes a set of its own, with the sizes of the reference unless told', async (t) => {
  const set = await compat.createTouchedKeySet(1000, 1, '_a');
  t.equal(set.insert(BigInt64Array.from({ length: 1005 }, (_, id) => BigInt(id))), 1001);
  t.same([...set.steal()].sort(), [1001n, 1002n, 1003n, 1004n]);
  t.equal(set.sharedName, 'MonolithTouchedKeySet_a');
  t.equal(compat.TOUCHED_KEY_SET_CAPACITY, (64 * 1024 * 1024) / (8 * 4));
  const whole = await compat.createTouchedKeySet();
  t.same([whole.capacity, whole.handle.concurrencyLevel], [2_097_152, compat.TOUCHED_KEY_SET_CONCURRENCY_LEVEL]);
  await t.rejects(compat.createTouchedKeySet(0), { code: 'ML_TOUCHED_SIZE' });
  await t.rejects(compat.createTouchedKeySet(2 ** 40), { code: 'ML_TOUCHED_SIZE' });
});

t.test('iterateTableAndApply hands over every row once and waits for each portion', async (t) => {
  const memory = await TableMemory.create({ budgetBytes: 8 * 2 ** 20 });
  const table = HashTable.create(memory, defineTable('t', [{ dim: 1 }]));
  table.assign(
    BigInt64Array.from({ length: 25 }, (_, i) => BigInt(i)),
    new Float32Array(25),
  );
  const portions: number[] = [];
  let running = 0;
  await compat.iterateTableAndApply(
    table,
    async (dumps) => {
      t.equal(++running, 1, 'one at a time');
      await new Promise((resolve) => setImmediate(resolve));
      portions.push(dumps.length);
      running--;
    },
    { limit: 10 },
  );
  t.same(portions, [10, 10, 5]);
});

t.test('eigenInverseRoot and applySparsePrecond are those of shampoo', async (t) => {
  const k = 4;
  const base = Float32Array.from({ length: k * k }, (_, i) => Math.sin(3 * i + 1));
  const mat = new Float32Array(k * k);
  for (let r = 0; r < k; r++) {
    for (let c = 0; c < k; c++) for (let i = 0; i < k; i++) mat[r * k + c]! += base[r * k + i]! * base[c * k + i]!;
  }
  const x = Float32Array.from({ length: k * 3 }, (_, i) => Math.cos(i));
  for (const [p, head, tail] of [
    [4, 2, 1],
    [2, 3, 3],
    [3, 1, 0],
  ] as const) {
    const plain = inverseRoot(mat, k, p, head, tail, 1e-3);
    const { pvec, pval, offset } = compat.eigenInverseRoot(new Tensor('float32', [k, k], mat), p, head, tail);
    t.same([pvec.shape, pval.shape], [[k, plain.rank], [plain.rank]]);
    t.ok(Math.abs(offset - plain.offset) < 1e-6, `${p}: the offset is ${offset}`);
    const wanted = precondition(x, plain);
    const found = compat.applySparsePrecond(new Tensor('float32', [k, 3], x), pvec, pval, offset);
    t.same(found.shape, [3, k], 'the first axis is the last one now');
    // Eigenvectors are known up to their sign, the operator is not.
    const off = Math.max(...found.data.map((value, i) => Math.abs(value - wanted[i]!)));
    t.ok(off < 1e-3 * Math.max(...wanted.map(Math.abs)), `${p}, ${head}, ${tail}: ${off}`);
  }
  t.throws(() => compat.eigenInverseRoot(new Tensor('float32', [2, 3], new Float32Array(6)), 2, 1, 1), {
    code: 'ML_OP',
  });
});

t.test('SaveHelper has the names of checkpoints', async (t) => {
  const { SaveHelper } = compat;
  t.equal(SaveHelper.getCkptPrefix('dir/model.ckpt', 10), 'dir/model.ckpt-10');
  t.equal(SaveHelper.getCkptAssetDir('dir/model.ckpt-10'), 'dir/model.ckpt-10.assets/');
  t.equal(SaveHelper.getGlobalStepValue('dir/model.ckpt-10'), 10);
});

t.test('the functions around tables and filters make what they are called after', async (t) => {
  const memory = await TableMemory.create({ budgetBytes: 8 * 2 ** 20 });
  const table = compat.testHashTable(memory, 2, { nameSuffix: 'a', learningRate: 0.5 });
  t.same([table.name, table.dim], ['MonolithHashTable_a', 2]);
  table.optimize([1n], [[1, 2]]);
  t.same(table.lookup([1n]), [-0.5, -1]);
  const { tableConfig } = compat.generateTestHashTableConfig(3);
  t.equal(compat.inferDimSize(tableConfig), 3);
  const segment = compat.CombineAsSegment(
    4,
    compat.ZerosInitializer(),
    compat.StochasticRoundingFloat16OptimizerWrapper(compat.SgdOptimizer()),
    compat.Fp16Compressor(),
  );
  t.match(segment, { dimSize: 4, optConfig: { sgd: {}, stochasticRoundingFloat16: true }, compConfig: { fp16: {} } });
  t.equal(compat.GradClipType.ClipByDenseAndSparse, 'ClipByDenseAndSparse');
  t.same([compat.isabs('hdfs:/a'), compat.isabs('/a'), compat.isabs('a')], [true, true, false]);
});

t.test('filters and kernels work in the memory of a session', async (t) => {
  await withSession(new Graph(), { schema: [], batchSize: 1 }, async (session) => {
    const region = sessionRegion(session);
    const ids = BigInt64Array.of(7n, 8n);
    const config = { defaultOccurrenceThreshold: 1 };
    const [filter, open] = [true, false].map(
      (enableHashFilter) =>
        compat.createHashFilters([region], { enableHashFilter, config, filterCapacity: 100, filterSplitNum: 2 })[0]!,
    );
    t.same([filter!.type, open!.type], [compat.FilterType.SLIDING_HASH_FILTER, compat.FilterType.NO_FILTER]);
    const gradient = Float32Array.of(1, 2);
    compat.interceptGradient(filter!, ids, gradient, 1);
    t.same(gradient, [0, 0], 'seen for the first time');
    compat.interceptGradient(compat.createHashFilter(region, 100, 2), ids, gradient.fill(3), 1);
    t.same(gradient, [3, 3], 'without thresholds all are let in');
    t.equal(compat.createProbabilisticFilter(region, true).type, compat.FilterType.PROBABILISTIC_FILTER);
    t.same(compat.createDummyHashFilter().shouldFilter({ ids }), [0, 0]);

    const { KernelOps, fusedReorderByIndices } = compat.distributionOps;
    const ops = new KernelOps({ ...region, maxUniqueIds: 16 });
    const given = [BigInt64Array.of(4n, 5n, 4n), BigInt64Array.of(9n)];
    const options = { numOfShards: 2, dims: [1, 2] };
    t.same(ops.fusedReorderByIndices(given, options), fusedReorderByIndices(given, options));
  });
});
