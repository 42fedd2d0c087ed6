/** @file The body of `createPredictHandler`: paths, limits, and the calls behind them. */
import { timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import { didYouMean } from '../../base/suggest.js';
import type { LoadedModel } from '../loaded-model.js';
import { classifyAnswer, predictAnswer, regressAnswer } from './answers.js';
import { type AskedRows, rowsOfExamples, rowsOfPredict } from './asked-rows.js';
import { RowCheck } from './columns.js';
import { FORM_PAGE, FORM_POLICY } from './form-page.js';
import type { HandlerOptions, PredictHandler } from './handler-options.js';
import { metadataAnswer, openApi, statusAnswer } from './model-docs.js';
import { readBody } from './read-body.js';
import { lookup, recommend } from './recommend.js';
import { refusal, refusalResponse } from './refusal.js';
import { ServeMetrics } from './serve-metrics.js';
import { ServedModel } from './served-model.js';
import type { ServedVersion } from './served-version.js';

const LIMITS = { bodyBytesMax: 2 ** 20, rowsMax: 1024, openMax: 1000, deadlineMs: 5000 };
const VERBS = ['predict', 'classify', 'regress', 'recommend', 'lookup'] as const;
type Verb = (typeof VERBS)[number];

/** `/v1/models/NAME`, a version of it, `/metadata`, or a call. */
const MODEL_PATH = /^\/v1\/models\/([^/:]+)(?:\/versions\/([^/:]+))?(\/metadata)?(?::([^/:]+))?$/;
const NO_STORE = { 'cache-control': 'no-store' };

/** The handler over these models. */
export function predictApp(
  models: Readonly<Record<string, ServedModel | LoadedModel>>,
  options: HandlerOptions,
): PredictHandler {
  const { token, ready = () => true } = options;
  const metrics = options.metrics ?? new ServeMetrics();
  const calls = new ModelCalls(models, { ...options, metrics });
  const app = new Hono();
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', (c) => (ready() ? c.text('ready\n') : c.text('not ready\n', 503)));
  app.get('/', (c) => c.html(FORM_PAGE, 200, { 'content-security-policy': FORM_POLICY, 'x-frame-options': 'DENY' }));
  if (token !== undefined) {
    app.use('*', async (c, next) => {
      if (!bears(c.req.header('authorization'), token)) throw refusal(401, 'a token is needed');
      await next();
    });
  }
  app.get('/metrics', (c) => c.text(metrics.text(), 200, { 'content-type': 'text/plain; version=0.0.4' }));
  app.get('/openapi.json', (c) => c.json(openApi(calls.models.values())));
  app.all('/v1/models/*', (c) => calls.answer(c.req.raw));
  app.notFound((c) =>
    refusalResponse(refusal(404, `there is nothing at ${c.req.path}`, { hint: 'see / or /openapi.json' })),
  );
  app.onError((error) => refusalResponse(error));
  return async (request) => app.fetch(request);
}

/** What is below `/v1/models`. */
class ModelCalls {
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly #metrics: ServeMetrics;
  readonly #strict: boolean;
  readonly #limits: typeof LIMITS;
  readonly #checks = new WeakMap<ServedVersion, RowCheck>();
  /** Requests that are not answered. */
  #open = 0;

  constructor(
    models: Readonly<Record<string, ServedModel | LoadedModel>>,
    { metrics, strict = false, ...limits }: HandlerOptions & { readonly metrics: ServeMetrics },
  ) {
    const served = (name: string, model: ServedModel | LoadedModel) =>
      model instanceof ServedModel ? model : ServedModel.of(name, model, metrics);
    this.models = new Map(Object.entries(models).map(([name, model]) => [name, served(name, model)]));
    this.#metrics = metrics;
    this.#strict = strict;
    this.#limits = { ...LIMITS, ...limits };
  }

  async answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, name, version, metadata, verb] = MODEL_PATH.exec(pathname) ?? [];
    if (name === undefined) throw refusal(404, `there is nothing at ${pathname}`, { hint: 'see /openapi.json' });
    if (verb !== undefined) return this.#counted(request, name, version, verb);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw refusal(405, `${request.method} is no way to ask for the status`, { hint: `POST …/${name}:predict` });
    }
    const model = this.#model(name);
    if (version !== undefined && !model.states.some((one) => one.version === version)) this.#version(model, version);
    return Response.json(metadata === undefined ? statusAnswer(model, version) : metadataAnswer(model));
  }

  async #counted(request: Request, name: string, version: string | undefined, verb: string): Promise<Response> {
    const start = performance.now();
    let status = 200;
    try {
      if (request.method !== 'POST') {
        throw refusal(405, `${request.method} is no way to call :${verb}`, { hint: 'POST it' });
      }
      return await this.#call(request, name, version, verb);
    } catch (error) {
      const failed = refusalResponse(error);
      status = failed.status;
      return failed;
    } finally {
      // Names of strangers are no labels: they would never end.
      const of = { model: this.models.has(name) ? name : '', call: VERBS.includes(verb as Verb) ? verb : '' };
      this.#metrics.observe('monolith_request_seconds', of, (performance.now() - start) / 1000);
      this.#metrics.add('monolith_requests_total', { ...of, code: `${status}` });
    }
  }

  async #call(request: Request, name: string, wanted: string | undefined, verb: string): Promise<Response> {
    const model = this.#model(name);
    const known = VERBS.find((one) => one === verb);
    if (known === undefined) {
      const hint = didYouMean(verb, VERBS) ?? `there are ${VERBS.join(', ')}`;
      throw refusal(404, `there is no call :${verb}`, { hint });
    }
    if (this.#open >= this.#limits.openMax) {
      throw refusal(429, `${this.#open} requests are waiting already`, { retryAfterSec: 1 });
    }
    this.#count(1);
    try {
      const version = this.#version(model, wanted);
      const answered = await version.use(() =>
        withDeadline(this.#limits.deadlineMs, (signal) => this.#answer(known, version, request, signal)),
      );
      return Response.json(answered, { headers: NO_STORE });
    } finally {
      this.#count(-1);
    }
  }

  async #answer(verb: Verb, version: ServedVersion, request: Request, signal: AbortSignal): Promise<object> {
    const { bodyBytesMax, rowsMax } = this.#limits;
    const body = await readBody(request, bodyBytesMax);
    const check = this.#check(version);
    const { heads } = version.model;
    const examples = () => rowsOfExamples(body, check, rowsMax);
    switch (verb) {
      case 'predict': {
        const asked = rowsOfPredict(body, check, rowsMax);
        return predictAnswer(heads, await scored(version, asked, signal), asked.rows.length, asked.form);
      }
      case 'classify': {
        const asked = examples();
        return classifyAnswer(heads, await scored(version, asked, signal), asked.rows.length);
      }
      case 'regress':
        return regressAnswer(heads, await scored(version, examples(), signal));
      case 'recommend':
        return recommend({ body, version, check, signal });
      case 'lookup':
        return lookup(body, version);
      default:
        return verb satisfies never;
    }
  }

  #model(name: string): ServedModel {
    const found = this.models.get(decoded(name));
    if (found !== undefined) return found;
    const names = [...this.models.keys()];
    const hint = didYouMean(name, names) ?? `there are ${names.join(', ')}`;
    throw refusal(404, `Servable not found for request: Latest(${name})`, { hint });
  }

  #version(model: ServedModel, version: string | undefined): ServedVersion {
    const found = version === undefined ? model.current : model.version(version);
    if (found !== undefined) return found;
    const hint = `version ${model.current.version} answers`;
    throw refusal(404, `Servable not found for request: Specific(${model.name}, ${version})`, { hint });
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
    this.#metrics.set('monolith_requests_open', {}, this.#open);
  }
}

/** Values for the rows of a request, with places of cells in the words of the request. */
async function scored(
  version: ServedVersion,
  { rows, place }: AskedRows,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  try {
    return await version.score(rows, signal);
  } catch (error) {
    const { row, column, reason } = ((error as { fields?: Record<string, unknown> }).fields ?? {}) as {
      readonly row?: number;
      readonly column?: string;
      readonly reason?: string;
    };
    if ((error as { code?: string }).code !== 'ML_DATA' || row === undefined) throw error;
    const { hint } = error as { readonly hint?: string };
    throw refusal(400, `${place}[${row}].${column}: ${reason}`, { hint, cause: error });
  }
}

/** Ends with the body, or with 504. */
async function withDeadline<T>(ms: number, body: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const late = refusal(504, `the request was not answered within ${ms} ms`, { hint: 'ask for fewer rows' });
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      abort.abort(late);
      reject(late);
    }, ms);
  });
  try {
    return await Promise.race([body(abort.signal), deadline]);
  } finally {
    clearTimeout(timer);
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // No name of a model holds a percent sign.
  }
}

function bears(header: string | undefined, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${token}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
