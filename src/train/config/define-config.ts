/** @file `defineConfig`: the settings of `monolith train` in a file of the user's, typed and checked. */
import { checkKeys } from '../../base/check-options.js';

/**
 * Settings of a config file: the long flags of `monolith train` in camelCase, with their meanings and defaults. Sizes
 * are texts as on the command line, or numbers of bytes.
 */
export interface TrainConfig {
  /** A name, or the path of a module that exports a model. */
  readonly model?: string;
  readonly data?: string;
  readonly label?: string;
  /** `movies.csv:movieId` */
  readonly with?: string;
  readonly split?: string;
  readonly evalData?: string;
  readonly epochs?: number;
  readonly dim?: number;
  readonly pieces?: number;
  /** Names of columns with commas between them. */
  readonly id?: string;
  readonly number?: string;
  readonly time?: string;
  readonly ignore?: string;
  readonly words?: string;
  /** `genres:|` */
  readonly list?: string;
  readonly format?: string;
  readonly delimiter?: string;
  readonly columns?: string;
  readonly null?: string;
  readonly badRows?: 'stop' | 'skip';
  readonly badRowsMax?: number;
  readonly cache?: boolean;
  readonly cacheDir?: string;
  readonly report?: boolean;
  /** Seconds between deltas for `monolith serve --follow`. */
  readonly freshEvery?: number;
  readonly vocab?: number;
  readonly steps?: number;
  readonly until?: number;
  readonly batchSize?: number;
  readonly threads?: number;
  readonly backend?: 'wasm' | 'reference' | 'cuda' | 'auto';
  readonly cudaDriver?: string;
  readonly useGpuEmbTable?: boolean;
  readonly gpuTableRows?: number;
  readonly modelDir?: string;
  readonly restoreFrom?: string;
  readonly restoreMode?: string;
  readonly restoreCkpt?: string;
  readonly restoreDir?: string;
  readonly seed?: number;
  readonly deterministic?: boolean;
  readonly tableMemory?: string | number;
  readonly whenFull?: string;
  readonly prefetch?: number;
  readonly postpush?: boolean;
  readonly trace?: string;
  readonly dumpGraph?: string;
  readonly saveEvery?: number;
  readonly evalEvery?: number;
  readonly metric?: 'auc' | 'loss';
  readonly minDelta?: number;
  readonly earlyStop?: number;
  readonly keepBest?: boolean;
  readonly summaryEvery?: number;
  readonly csv?: string;
  readonly csvEvery?: number;
  /** `100:110`: from the first step up to the second, without it. */
  readonly profile?: string;
  readonly profileEvery?: number;
  readonly profileDir?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** The keys, held to the interface by the compiler and to the flags by a test. */
const KEYS: Readonly<Record<keyof TrainConfig, true>> = {
  model: true,
  data: true,
  label: true,
  with: true,
  split: true,
  evalData: true,
  epochs: true,
  dim: true,
  pieces: true,
  id: true,
  number: true,
  time: true,
  ignore: true,
  words: true,
  list: true,
  format: true,
  delimiter: true,
  columns: true,
  null: true,
  badRows: true,
  badRowsMax: true,
  cache: true,
  cacheDir: true,
  report: true,
  freshEvery: true,
  vocab: true,
  steps: true,
  until: true,
  batchSize: true,
  threads: true,
  backend: true,
  cudaDriver: true,
  useGpuEmbTable: true,
  gpuTableRows: true,
  modelDir: true,
  restoreFrom: true,
  restoreMode: true,
  restoreCkpt: true,
  restoreDir: true,
  seed: true,
  deterministic: true,
  tableMemory: true,
  whenFull: true,
  prefetch: true,
  postpush: true,
  trace: true,
  dumpGraph: true,
  saveEvery: true,
  evalEvery: true,
  metric: true,
  minDelta: true,
  earlyStop: true,
  keepBest: true,
  summaryEvery: true,
  csv: true,
  csvEvery: true,
  profile: true,
  profileEvery: true,
  profileDir: true,
  json: true,
  quiet: true,
  verbose: true,
};

export const TRAIN_CONFIG_KEYS: readonly string[] = Object.keys(KEYS);

/**
 * The settings of a config file, `monolith.config.js` for one. ML_OPTION for a key that is unknown.
 *
 * ```ts
 * export default defineConfig({ modelDir: 'runs/ffm', batchSize: 512, saveEvery: 1000 });
 * ```
 */
export function defineConfig<const C extends TrainConfig>(config: C): C {
  checkKeys('defineConfig', config, TRAIN_CONFIG_KEYS);
  return config;
}
