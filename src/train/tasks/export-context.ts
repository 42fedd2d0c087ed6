/** @file Whether a model is built for export, and what is exported (native_training/model_export/export_context). */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { Graph, Tensor } from '../../graph/graph.js';
import { Scope } from './scope.js';

/** As numbers, which configurations have. */
export const EXPORT_MODE = { NONE: 0, STANDALONE: 1, DISTRIBUTED: 2 } as const;
export type ExportModeName = keyof typeof EXPORT_MODE;

/** Inputs and outputs of a function of an exported graph. */
export interface ExportSignature {
  readonly inputs: Readonly<Record<string, Tensor>>;
  readonly outputs: Readonly<Record<string, Tensor>>;
}

/** What an export is made of: graphs, with the functions they offer. */
export class ExportContext {
  readonly mode: ExportModeName;
  /** Whether dense parts run on a GPU elsewhere. */
  readonly withRemoteGpu: boolean;
  /** Graphs of parameter servers, `ps_<i>`. */
  readonly subGraphs = new Map<string, Graph>();
  /** Graphs of dense parts, `dense_0`. */
  readonly denseSubGraphs = new Map<string, Graph>();
  readonly #signatures = new Map<string, Map<string, ExportSignature>>();

  constructor(mode: ExportModeName, options: { readonly withRemoteGpu?: boolean } = {}) {
    const { withRemoteGpu = false } = checkOptions('ExportContext', options, ['withRemoteGpu']);
    this.mode = mode;
    this.withRemoteGpu = withRemoteGpu;
  }

  addSignature(graph: string, name: string, signature: ExportSignature): void {
    const known = this.#signatures.get(graph) ?? new Map<string, ExportSignature>();
    known.set(name, signature);
    this.#signatures.set(graph, known);
  }

  /** Signatures of a graph, by name. */
  signatures(graph: string): ReadonlyMap<string, ExportSignature> {
    return this.#signatures.get(graph) ?? new Map();
  }
}

const scope = new Scope<ExportContext>();

/** The context of the export around the call; null outside of any. */
export function getCurrentExportContext(): ExportContext | null {
  return scope.get() ?? null;
}

/** Whether a model is built to be exported. */
export function isExporting(): boolean {
  return getCurrentExportContext() !== null;
}

/** Whether it is for an entry and parameter servers. */
export function isExportingDistributed(): boolean {
  return getCurrentExportContext()?.mode === 'DISTRIBUTED';
}

/** Whether it is for one graph that has everything. */
export function isExportingStandalone(): boolean {
  return getCurrentExportContext()?.mode === 'STANDALONE';
}

/** Runs `body`, which builds a model to be exported. */
export function enterExportMode<R>(context: ExportContext, body: () => R): R {
  if (isExporting()) throw new MonolithError('ML_TASK', { reason: "export mode can't be nested" });
  return scope.with(context, body);
}
