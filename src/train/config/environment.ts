/**
 * @file The variables of the environment that say how a process trains: one table, which reads and checks them.
 *
 * Variables of the collective libraries of the reference are listed where they choose something that is chosen here
 * too; its BytePS transport does not exist here and is refused.
 */
import { type Environment, environmentInt } from '../../base/environment-int.js';
import { MonolithError } from '../../base/errors.js';

interface Variable {
  readonly kind: 'int' | 'float' | 'text';
  readonly default: string | number | null;
  readonly help: string;
}

const number = (value: number, help: string): Variable => ({ kind: 'int', default: value, help });
const maybeNumber = (help: string): Variable => ({ kind: 'int', default: null, help });
const word = (value: string, help: string): Variable => ({ kind: 'text', default: value, help });
const maybeWord = (help: string): Variable => ({ kind: 'text', default: null, help });

export const ENVIRONMENT: Readonly<Record<string, Variable>> = {
  TF_CONFIG: maybeWord('Cluster and task as JSON.'),
  OMPI_COMM_WORLD_RANK: number(0, 'Number of this process among those that mpirun started.'),
  OMPI_COMM_WORLD_SIZE: number(1, 'How many mpirun started.'),
  OMPI_COMM_WORLD_LOCAL_RANK: number(0, 'Number of this process on its host.'),
  OMPI_COMM_WORLD_LOCAL_SIZE: number(1, 'How many are on its host.'),
  CUDA_VISIBLE_DEVICES: maybeWord('GPUs of the process; set to the local rank under MPI where it is not set.'),
  CUDA_DEVICE_ORDER: maybeWord('Order of GPUs; set to PCI_BUS_ID under MPI where it is not set.'),
  TF_GRPC_WORKER_CACHE_THREADS: maybeNumber('Set to tf_grpc_worker_cache_threads.'),
  MONOLITH_GRPC_WORKER_SERVICE_HANDLER_MULTIPLIER: {
    kind: 'float',
    default: null,
    help: 'Set to monolith_grpc_worker_service_handler_multiplier.',
  },
  HADOOP_HDFS_HOME: maybeWord('Where HDFS is installed.'),
  zk_servers: maybeWord('ZooKeeper servers where zk_server is not set.'),
  ZK_AUTH: maybeWord('Digest that ZooKeeper asks for.'),
  MONOLITH_METRIC_PREFIX: word('monolith.training', 'What names of metrics begin with.'),
  MONOLITH_SAVE_SUMMARY_INTERVAL: maybeNumber('Full sync, rank 0: in place of save_summary_steps.'),
  MONOLITH_ROOT_LOG_INTERVAL: maybeNumber('Full sync, rank 0: in place of log_step_count_steps.'),
  MONOLITH_WITH_HOROVOD: maybeWord('Use the collective of MPI.'),
  MONOLITH_WITH_BYTEPS: number(0, 'Refused when it is set: this transport does not exist here.'),
  MONOLITH_WITH_ALLREDUCE_FUSION: word('none', 'Dense gradients are summed one by one: none; or in one block: one.'),
  MONOLITH_WITH_ALLREDUCE_FP16: number(0, 'Dense gradients are sent as half precision.'),
  MONOLITH_SKIP_ALLREDUCE: number(0, 'Dense gradients stay local.'),
  MONOLITH_SYNC_EMPTY_RANK0_PS_SHARD: number(1, 'With more than four shards the first is empty.'),
  KAFKA_BROKER_LIST: maybeWord('Brokers that metrics are sent to.'),
  KAFKA_TOPIC_NAME: maybeWord('Topic that metrics are sent to.'),
  PRIMUS_AM_RPC_HOST: maybeWord('Host of the application master.'),
  PRIMUS_AM_RPC_PORT: maybeNumber('Port of the application master.'),
  CLOUDNATIVE_INET_ADDR: maybeWord('Address of this host, the first of a list with commas.'),
  YARN_INET_ADDR: maybeWord('Address of this host, where the one before is not set.'),
  MY_HOST_IP: maybeWord('Address of this host.'),
  MY_POD_IP: maybeWord('Address of this host, where the one before is not set.'),
  MY_HOST_IPV6: maybeWord('Address of this host by IPv6.'),
  TEST_TMPDIR: word('/tmp', 'Folder for files of tests.'),
};

/** Refuses what cannot be had, and values that are none. */
export function checkEnvironment(env: Environment): void {
  const bytePs = env.MONOLITH_WITH_BYTEPS?.trim() ?? '';
  if (bytePs !== '' && bytePs !== '0') {
    const reason = 'BytePS is a transport of the reference, and there is none of it here';
    const hint = 'unset MONOLITH_WITH_BYTEPS; the collective of MPI does the same work';
    throw new MonolithError('ML_UNSUPPORTED', { what: `MONOLITH_WITH_BYTEPS=${bytePs}`, reason }, { hint });
  }
}

/** What is set of the table, checked. */
export function readEnvironment(env: Environment): Readonly<Record<string, string | number>> {
  checkEnvironment(env);
  const found: Record<string, string | number> = {};
  for (const [name, { kind }] of Object.entries(ENVIRONMENT)) {
    const text = env[name];
    if (text === undefined || text === '') continue;
    const value = kind === 'int' ? environmentInt(env, name) : kind === 'float' ? Number(text) : text;
    if (value !== null) found[name] = value;
  }
  return found;
}
