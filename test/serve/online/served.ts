/** @file An exported model for tests of what answers, and how they ask. */
import { join } from 'node:path';
import { loadModel } from '../../../src/serve/load-model.js';
import type { LoadedModel } from '../../../src/serve/loaded-model.js';
import { createPredictHandler, type HandlerOptions } from '../../../src/serve/online/predict-handler.js';
import { small, trainedEstimator } from '../shops.js';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

export type Ask = (path: string, body?: unknown, init?: RequestInit) => Promise<Answer>;

/** An export in `dir`; the path of its version. */
export async function exportedShop(dir: string): Promise<string> {
  const estimator = await trainedEstimator(join(dir, 'run'));
  try {
    return await estimator.export(join(dir, 'export'));
  } finally {
    await estimator.close();
  }
}

export const openShop = (dir: string): Promise<LoadedModel> => loadModel(dir, small);

/** Asks a handler over the model `shop`; a body that is a text is sent as it is. */
export function asking(shop: LoadedModel, options: HandlerOptions = {}): Ask {
  return askingOf(createPredictHandler({ shop }, options));
}

export function askingOf(handler: (request: Request) => Promise<Response>): Ask {
  return async (path, body, init = {}) => {
    const sent =
      body === undefined ? {} : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) };
    const response = await handler(new Request(`http://localhost${path}`, { ...sent, ...init }));
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, body: json ? JSON.parse(text) : text, headers: response.headers };
  };
}
