/** @file The body of `createPredictHandler`: paths, limits, and the calls behind them. */
import { Hono } from 'hono';
import { didYouMean } from '../../base/suggest.js';
import type { LoadedModel } from '../loaded-model.js';
import { classifyAnswer, predictAnswer, regressAnswer } from './answers.js';
import { rowsOfExamples, rowsOfPredict } from './asked-rows.js';
import { bearsToken } from './bears-token.js';
import { FORM_PAGE, FORM_POLICY } from './form-page.js';
import type { HandlerOptions, PredictHandler } from './handler-options.js';
import { type CallContext, ModelCalls } from './model-calls.js';
import { metadataAnswer, openApi, statusAnswer } from './model-docs.js';
import { readBody } from './read-body.js';
import { lookup, recommend } from './recommend.js';
import { refusal, refusalResponse } from './refusal.js';
import { scoreRows } from './score-rows.js';
import type { ServedModel } from './served-model.js';

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
  return appOf(new ModelCalls(models, options), options);
}

/** The handler over calls that others make as well. */
export function appOf(calls: ModelCalls, options: Pick<HandlerOptions, 'token' | 'ready'>): PredictHandler {
  const { token, ready = () => true } = options;
  const paths = new ModelPaths(calls);
  const { metrics } = calls;
  const app = new Hono();
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', (c) => (ready() ? c.text('ready\n') : c.text('not ready\n', 503)));
  app.get('/', (c) => c.html(FORM_PAGE, 200, { 'content-security-policy': FORM_POLICY, 'x-frame-options': 'DENY' }));
  if (token !== undefined) {
    app.use('*', async (c, next) => {
      if (!bearsToken(c.req.header('authorization'), token)) throw refusal(401, 'a token is needed');
      await next();
    });
  }
  app.get('/metrics', (c) => c.text(metrics.text(), 200, { 'content-type': 'text/plain; version=0.0.4' }));
  app.get('/openapi.json', (c) => c.json(openApi(calls.models.values())));
  app.all('/v1/models/*', (c) => paths.answer(c.req.raw));
  app.notFound((c) =>
    refusalResponse(refusal(404, `there is nothing at ${c.req.path}`, { hint: 'see / or /openapi.json' })),
  );
  app.onError((error) => refusalResponse(error));
  return async (request) => app.fetch(request);
}

/** What is below `/v1/models`. */
class ModelPaths {
  readonly #calls: ModelCalls;

  constructor(calls: ModelCalls) {
    this.#calls = calls;
  }

  async answer(request: Request): Promise<Response> {
    const pathname = pathOf(request.url);
    const [, encoded, version, metadata, verb] = MODEL_PATH.exec(pathname) ?? [];
    if (encoded === undefined) throw refusal(404, `there is nothing at ${pathname}`, { hint: 'see /openapi.json' });
    const name = decoded(encoded);
    if (verb !== undefined) return this.#counted(request, name, version, verb);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw refusal(405, `${request.method} is no way to ask for the status`, { hint: `POST …/${name}:predict` });
    }
    const model = this.#calls.model(name);
    const told = version === undefined || model.states.some((one) => one.version === version);
    if (!told || metadata !== undefined) this.#calls.version(model, version);
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
      this.#calls.counted(name, VERBS.includes(verb as Verb) ? verb : '', `${status}`, start);
    }
  }

  async #call(request: Request, name: string, wanted: string | undefined, verb: string): Promise<Response> {
    this.#calls.model(name);
    const known = VERBS.find((one) => one === verb);
    if (known === undefined) {
      const hint = didYouMean(verb, VERBS) ?? `there are ${VERBS.join(', ')}`;
      throw refusal(404, `there is no call :${verb}`, { hint });
    }
    const answered = await this.#calls.answer(name, wanted, (context) => this.#answer(known, request, context));
    return Response.json(answered, { headers: NO_STORE });
  }

  async #answer(verb: Verb, request: Request, { version, check, signal }: CallContext): Promise<object> {
    const { bodyBytesMax, rowsMax } = this.#calls.limits;
    const body = await readBody(request, bodyBytesMax);
    const { heads } = version.model;
    const examples = () => rowsOfExamples(body, check, rowsMax);
    switch (verb) {
      case 'predict': {
        const asked = rowsOfPredict(body, check, rowsMax);
        return predictAnswer(heads, await scoreRows(version, asked, signal), asked.rows.length, asked.form);
      }
      case 'classify': {
        const asked = examples();
        return classifyAnswer(heads, await scoreRows(version, asked, signal), asked.rows.length);
      }
      case 'regress':
        return regressAnswer(heads, await scoreRows(version, examples(), signal));
      case 'recommend':
        return recommend({ body, version, check, signal });
      case 'lookup':
        return lookup(body, version);
      default:
        return verb satisfies never;
    }
  }
}

/** What follows the host, without a query: a URL of a whole was parsed before, and takes long to be parsed again. */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const end = url.slice(start).search(/[?#]/);
  return end < 0 ? url.slice(start) : url.slice(start, start + end);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // No name of a model holds a percent sign.
  }
}
