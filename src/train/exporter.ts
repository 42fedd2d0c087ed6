/**
 * @file Export as the estimator sees it: an interface that is filled elsewhere, since what writes models for serving
 * comes after training in the order of folders.
 */
import { MonolithError } from '../base/errors.js';
import type { SessionOptions } from '../runtime/session/session.js';
import type { EstimatorModel } from './estimator/estimator-model.js';

export const EXPORT_FORMATS = ['native', 'onnx', 'savedModel'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** How rows of tables are kept in an export. */
export type Compress = 'fp32' | 'fp16' | 'fixed_r8' | 'one_bit';

/** A checkpoint to export, and how. */
export interface ExportRequest {
  readonly model: EstimatorModel;
  /** Prefix of the checkpoint. */
  readonly checkpoint: string;
  /** Folder that a version is made in. */
  readonly dir: string;
  readonly formats: readonly ExportFormat[];
  /** Of the session that the checkpoint is restored into. */
  readonly session: SessionOptions;
  readonly compress?: Compress | undefined;
  readonly beside?: BesideModel;
  /** Default: all of it in one folder. */
  readonly layout?: PartsLayout | undefined;
  /** Number of the version. Default: the seconds since 1970; of parts that are there already nothing is written. */
  readonly version?: string | undefined;
}

/** A model in parts: an entry with the program, and rows by the servers that answer for them. */
export interface PartsLayout {
  /** Servers that rows are spread over: an id is of the one of its floorMod by their number. */
  readonly servers: number;
  /** No rows: those of the newest export that has them are looked up. Default: false. */
  readonly denseOnly?: boolean;
  /** Variables in a part of their own. Default: false. */
  readonly remoteDense?: boolean;
}

/** What lies in a version beside its model. */
export interface BesideModel {
  /** Rows that whoever loads the version tries it with. */
  readonly warmup?: readonly object[];
  /** Rows that can be recommended. */
  readonly candidates?: readonly object[];
  /** Files that are copied into `assets`, by their name there. */
  readonly assets?: Readonly<Record<string, string>>;
  /** What the data was taken for, as text of JSON. */
  readonly schema?: string;
  /** File of requests that TensorFlow Serving warms up with. */
  readonly warmupRequests?: string;
}

export interface ExportOptions extends BesideModel {
  /** Default: native. */
  readonly formats?: readonly ExportFormat[];
  /** Prefix of a checkpoint. Default: the newest one. */
  readonly checkpoint?: string;
  /** How rows of tables are kept. Default: as each table says. */
  readonly compress?: Compress;
  /** In parts, below `entry`, `ps_<i>` and maybe `dense_0`. Default: all of it in one folder. */
  readonly layout?: PartsLayout;
  /** Number of the version. Default: the seconds since 1970. */
  readonly version?: string;
}

export const EXPORT_OPTIONS = [
  ...(['formats', 'checkpoint', 'compress', 'layout', 'version'] as const),
  ...(['warmup', 'candidates', 'assets', 'schema', 'warmupRequests'] as const),
] as const satisfies readonly (keyof ExportOptions)[];

/** Writes a version of a model; its folder. */
export type ExportModel = (request: ExportRequest) => Promise<string>;

/** A model that was exported, ready to infer. */
export interface ImportedModel {
  /** Values by the name of the input, or those of the only one; arrays by the name of the output. */
  infer(features: unknown): Promise<Readonly<Record<string, Float32Array>>>;
  close(): Promise<void>;
}

export interface ImportOptions {
  /** Default: `instances`. */
  readonly inputName?: string;
  /** Default: `output`. */
  readonly outputName?: string;
  /** Default: `serving_default`. */
  readonly signature?: string | null;
}

export type ImportSavedModel = (path: string, options: ImportOptions) => Promise<ImportedModel>;

let exporter: (() => Promise<ExportModel>) | undefined;
let importer: (() => Promise<ImportSavedModel>) | undefined;

/** Says what writes models; it is loaded when the first export asks for it. */
export function provideExporter(load: () => Promise<ExportModel>): void {
  exporter = load;
}

/** Says what reads an exported model. */
export function provideImporter(load: () => Promise<ImportSavedModel>): void {
  importer = load;
}

/** ML_UNIMPLEMENTED where nothing writes models. */
export async function exporterOfModels(): Promise<ExportModel> {
  if (exporter !== undefined) return exporter();
  const hint = "import 'monolith-ts', which brings it";
  throw new MonolithError('ML_UNIMPLEMENTED', { what: 'export', reason: 'nothing was said to write models' }, { hint });
}

/** ML_UNIMPLEMENTED where nothing reads exported models. */
export async function importerOfSavedModels(): Promise<ImportSavedModel> {
  if (importer !== undefined) return importer();
  const reason = 'this version has no importer of SavedModels';
  throw new MonolithError('ML_UNIMPLEMENTED', { what: 'import', reason });
}
