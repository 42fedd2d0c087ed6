/**
 * @file What is asked of models, whichever way it came: the model and version meant, what may be open at once, the time
 * there is for an answer, and what is counted.
 */
import { didYouMean } from '../../base/suggest.js';
import type { LoadedModel } from '../loaded-model.js';
import { RowCheck } from './columns.js';
import type { HandlerOptions } from './handler-options.js';
import { refusal } from './refusal.js';
import { type Labels, ServeMetrics } from './serve-metrics.js';
import { ServedModel } from './served-model.js';
import type { ServedVersion } from './served-version.js';

const LIMITS = { bodyBytesMax: 2 ** 20, rowsMax: 1024, openMax: 1000, deadlineMs: 5000 };

const NO_LABELS: Labels = {};

/** What a call is answered by. */
export interface CallContext {
  readonly version: ServedVersion;
  readonly check: RowCheck;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export class ModelCalls {
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly metrics: ServeMetrics;
  readonly limits: Readonly<typeof LIMITS>;
  readonly #strict: boolean;
  readonly #checks = new WeakMap<ServedVersion, RowCheck>();
  readonly #known = new Map<string, Labels>();
  /** Requests that are not answered. */
  #open = 0;

  constructor(models: Readonly<Record<string, ServedModel | LoadedModel>>, options: HandlerOptions) {
    const { metrics = new ServeMetrics(), strict = false, token: _, ready: __, ...limits } = options;
    const served = (name: string, model: ServedModel | LoadedModel) =>
      model instanceof ServedModel ? model : ServedModel.of(name, model, metrics);
    this.models = new Map(Object.entries(models).map(([name, model]) => [name, served(name, model)]));
    this.metrics = metrics;
    this.#strict = strict;
    this.limits = { ...LIMITS, ...limits };
  }

  /** The model of this name; 404 with the nearest one. */
  model(name: string): ServedModel {
    const found = this.models.get(name);
    if (found !== undefined) return found;
    const names = [...this.models.keys()];
    const hint = didYouMean(name, names) ?? `there are ${names.join(', ')}`;
    throw refusal(404, `Servable not found for request: Latest(${name})`, { hint });
  }

  /** The version of this number, or the one in use. */
  version(model: ServedModel, version: string | undefined): ServedVersion {
    const found = version === undefined ? model.current : model.version(version);
    if (found !== undefined) return found;
    const hint = `version ${model.current.version} answers`;
    throw refusal(404, `Servable not found for request: Specific(${model.name}, ${version})`, { hint });
  }

  /** What `body` answers by a version, which stays as long; 429 where too many wait, 504 for what takes too long. */
  async answer<T>(
    name: string,
    wanted: string | undefined,
    body: (context: CallContext) => Promise<T>,
    gone?: AbortSignal,
  ): Promise<T> {
    const model = this.model(name);
    if (this.#open >= this.limits.openMax) {
      throw refusal(429, `${this.#open} requests are waiting already`, { retryAfterSec: 1 });
    }
    this.#count(1);
    try {
      const version = this.version(model, wanted);
      const check = this.#check(version);
      const within = (signal: AbortSignal) => body({ version, check, signal });
      return await version.use(() => withDeadline(this.limits.deadlineMs, within, gone));
    } finally {
      this.#count(-1);
    }
  }

  /** Counts a call that was answered. */
  counted(name: string, call: string, code: string, startMs: number): void {
    // Names of strangers are no labels: they would never end.
    const model = this.models.has(name) ? name : '';
    this.metrics.observe('monolith_request_seconds', this.#labels(model, call), (performance.now() - startMs) / 1000);
    this.metrics.add('monolith_requests_total', this.#labels(model, call, code));
  }

  /** The same object for the same labels: its text is made once. */
  #labels(model: string, call: string, code?: string): Labels {
    const key = `${model} ${call} ${code}`;
    let labels = this.#known.get(key);
    if (labels === undefined) {
      labels = { model, call, ...(code !== undefined && { code }) };
      this.#known.set(key, labels);
    }
    return labels;
  }

  #check(version: ServedVersion): RowCheck {
    let check = this.#checks.get(version);
    if (check === undefined) {
      check = new RowCheck(version.model.schema.features, this.#strict);
      this.#checks.set(version, check);
    }
    return check;
  }

  #count(by: number): void {
    this.#open += by;
    this.metrics.set('monolith_requests_open', NO_LABELS, this.#open);
  }
}

/** Ends with the body, with 504, or with 499 once who asked has gone. */
async function withDeadline<T>(
  ms: number,
  body: (signal: AbortSignal) => Promise<T>,
  gone: AbortSignal | undefined,
): Promise<T> {
  const abort = new AbortController();
  let stop: (reason: Error) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = (reason) => {
      abort.abort(reason);
      reject(reason);
    };
  });
  const late = () => stop(refusal(504, `the request was not answered within ${ms} ms`, { hint: 'ask for fewer rows' }));
  const left = () => stop(refusal(499, 'nobody waits for the answer any more'));
  const timer = setTimeout(late, ms);
  gone?.addEventListener('abort', left);
  try {
    return await Promise.race([body(abort.signal), stopped]);
  } finally {
    clearTimeout(timer);
    gone?.removeEventListener('abort', left);
  }
}
