/** @file The fields that RunnerConfig adds (runner_utils), and those of RunConfig (estimator). */
import { bool, choice, float, int, maybeFloat, maybeInt, maybeList, maybeText, text } from './field.js';
import { cpuTrainingFields as cpu, distributedFields } from './training-fields.js';

export const DISCOVERY_TYPES = ['primus', 'consul', 'zk', 'mlp'] as const;
export type DiscoveryType = (typeof DISCOVERY_TYPES)[number];
export const ADDRESS_FAMILIES = ['ipv4', 'ipv6'] as const;

export const runnerFields = {
  task: maybeText('Task that is run.'),
  tfConfig: maybeText('Cluster as JSON, for discovery by primus.'),
  deepInsightName: maybeText('Name of the model at deep insight, and of the job in ZooKeeper.'),
  discoveryType: choice(DISCOVERY_TYPES, 'consul', 'How processes find each other: primus, consul, zk or mlp.'),
  zkServer: maybeText('ZooKeeper servers.'),
  zkWatchAddressFamily: text('ipv4', 'Addresses that are watched: ipv4 or ipv6.'),
  isLocal: bool(false, 'One process does all.'),
  enableFidDedup: bool(false, 'No effect.'),
  bzid: maybeText('Business id; parameter servers need it under realtime training.'),
  psReplicaNum: maybeInt('No effect.'),
  tfGrpcWorkerCacheThreads: int(16, 'Threads of the transport.', { min: 1 }),
  monolithGrpcWorkerServiceHandlerMultiplier: float(1.0, 'Factor for the handlers of calls.', { min: 0 }),
  paramsOverride: maybeText('JSON object of dotted names of task parameters and their values.'),
  baseName: maybeText('Base name of the model at serving; goes with bzid.'),
  dataType: maybeText('Instance, Example or ExampleBatch.'),
  featureList: maybeText('File that lists features.'),
  lagrangexHeader: bool(false, 'Records have a lagrangex header.'),
  sortId: bool(true, 'Records have a sort id.'),
  kafkaDump: bool(false, 'The input is a dump of Kafka.'),
  kafkaDumpPrefix: bool(false, 'The input is a dump of Kafka with prefixes.'),
  restoreDir: maybeText('Model directory whose checkpoint an empty one takes over.'),
  restoreCkpt: maybeText('Checkpoint to restore in place of the newest one.'),
  deepInsightTarget: maybeText('Heads to send to deep insight, by commas.'),
  deepInsightSampleRatio: maybeFloat('Share of examples to send to deep insight.'),
  unifiedServing: bool(false, 'Parameters are pushed to serving by layouts.'),
  useEstimator: bool(false, 'No effect.'),
  kafkaTopics: maybeList('Topics, by commas.'),
  kafkaGroupId: maybeText('Group of consumers.'),
  kafkaServers: maybeText('Brokers.'),
  inputPath: maybeText('Root of dated input.'),
  isHourly: bool(false, 'Input is in folders of YYYYMMDD/HH.'),
  wildcard: maybeText('Which files of a folder are input.'),
  startDate: maybeText('First day of input, YYYYMMDD.'),
  endDate: maybeText('Day before which input ends, YYYYMMDD; today when it is not set.'),
  startHour: maybeInt('First hour of input.'),
  endHour: maybeInt('Hour before which input ends.'),
  enableDynamicSharding: bool(false, 'Workers share one queue of input files.'),
  maxTaskNumPerWorker: int(1, 'Readers of a worker.', { min: 1 }),
  disableNativeMetrics: bool(true, 'Leave out the built-in AUC and mean squared error.'),
};

const { isLocal, bzid, baseName, psReplicaNum, restoreDir, restoreCkpt, disableNativeMetrics } = runnerFields;
const { kafkaGroupId, kafkaServers } = runnerFields;
const { maxRetryTimes, retryWaitInSecs } = distributedFields;

/** Those of RunConfig: all but two are fields of RunnerConfig too, three of them with another default. */
export const runConfigFields = {
  isLocal,
  numPs: cpu.numPs,
  numWorkers: cpu.numWorkers,
  chiefTimeoutSecs: cpu.chiefTimeoutSecs,
  operationTimeoutInMs: distributedFields.operationTimeoutInMs,
  sessionCreationTimeoutSecs: distributedFields.sessionCreationTimeoutSecs,
  enableFusedLayout: cpu.enableFusedLayout,
  enableModelDump: cpu.enableModelDump,
  partialRecovery: bool(false, cpu.partialRecovery.help),
  maxRetryTimes: { ...maxRetryTimes, default: 6 },
  retryWaitInSecs: { ...retryWaitInSecs, default: 5 },
  bzid,
  baseName,
  psReplicaNum,
  enableParameterSync: bool(false, 'Train on a stream and push parameters to serving.'),
  modelDir: distributedFields.modelDir,
  restoreDir,
  restoreCkpt,
  saveCheckpointsSteps: cpu.saveCheckpointsSteps,
  maxRpcDeadlineMillis: cpu.maxRpcDeadlineMillis,
  denseOnlySaveCheckpointsSecs: cpu.denseOnlySaveCheckpointsSecs,
  denseOnlySaveCheckpointsSteps: cpu.denseOnlySaveCheckpointsSteps,
  checkpointsMaxToKeep: cpu.checkpointsMaxToKeep,
  warmupFile: cpu.warmupFile,
  enableLocalProfiling: bool(false, 'Profile a local run.'),
  useNativeMultiHashTable: cpu.useNativeMultiHashTable,
  clearNn: cpu.clearNn,
  continueTraining: cpu.continueTraining,
  reloadAliasMap: cpu.reloadAliasMap,
  enableAliasMapAutoGen: cpu.enableAliasMapAutoGen,
  kafkaTopics: maybeText('Topics, by commas.'),
  kafkaGroupId,
  kafkaServers,
  disableNativeMetrics,
  saveSummarySteps: cpu.saveSummarySteps,
  logStepCountSteps: cpu.logStepCountSteps,
  saveCheckpointsSecs: cpu.saveCheckpointsSecs,
};
