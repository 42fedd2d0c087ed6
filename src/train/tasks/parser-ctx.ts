/**
 * @file What the input of a task and its model have to agree on (native_training/data/parsers, ParserCtx): whether
 * lookups are laid out as a whole, and values under keys.
 */
import { checkOptions } from '../../base/check-options.js';
import { Scope } from './scope.js';

export interface ParserCtxOptions {
  /** Lookups come as layouts that were asked for as a whole. Default: false. */
  readonly enableFusedLayout?: boolean;
  readonly enableResourceConstrainedRoughsort?: boolean;
}

/** What input and model agree on. */
export class ParserCtx {
  readonly enableFusedLayout: boolean;
  readonly enableResourceConstrainedRoughsort: boolean;
  /** Kind of records that the input parses: instance, example, examplebatch. */
  parserType: string | null = null;
  /** How ids were sharded by the input, where it did that. */
  readonly shardingSparseFidsOpParams = new Map<string, unknown>();
  readonly #bag = new Map<string, unknown>();

  constructor(options: ParserCtxOptions = {}) {
    checkOptions('ParserCtx', options, ['enableFusedLayout', 'enableResourceConstrainedRoughsort']);
    this.enableFusedLayout = options.enableFusedLayout ?? false;
    this.enableResourceConstrainedRoughsort = options.enableResourceConstrainedRoughsort ?? false;
  }

  set(key: string, value: unknown): void {
    this.#bag.set(key, value);
  }

  get(key: string): unknown {
    return this.#bag.get(key);
  }
}

const scope = new Scope<ParserCtx>();
let outside: ParserCtx | undefined;

/** The innermost context; outside of any, one without fused layout that is made on first use. */
export function getDefaultParserCtx(): ParserCtx {
  const inner = scope.get();
  if (inner !== undefined) return inner;
  outside ??= new ParserCtx();
  return outside;
}

/** Runs `body`, which builds an input or a model, with this context. */
export function withParserCtx<R>(context: ParserCtx, body: () => R): R {
  return scope.with(context, body);
}

/** Whether lookups come as layouts. */
export function isFusedLayout(): boolean {
  return getDefaultParserCtx().enableFusedLayout;
}
