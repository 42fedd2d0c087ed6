/**
 * @file Dependencies that the first call loads: each costs milliseconds of every import of the package, and most
 * programs need few of them. For what is called synchronously; asynchronous code says `await import(…)`.
 */
import { createRequire } from 'node:module';
import type { z } from 'zod';

const require = createRequire(import.meta.url);

/**
 * The module `name`, when it is asked for.
 *
 * ```ts
 * const comlink = lazyModule<typeof import('comlink')>('comlink');
 * comlink().wrap(endpoint);
 * ```
 */
export function lazyModule<Module>(name: string): () => Module {
  let loaded: Module | undefined;
  return () => {
    loaded ??= require(name) as Module;
    return loaded;
  };
}

const zod = lazyModule<{ readonly z: typeof z }>('zod');

/** A schema of zod that is made when it is first asked for. */
export function lazySchema<S>(make: (zod: typeof z) => S): () => S {
  let made: { readonly schema: S } | undefined;
  return () => {
    made ??= { schema: make(zod().z) };
    return made.schema;
  };
}

/**
 * An asynchronous function whose module the first call loads.
 *
 * ```ts
 * export const saveTable = onDemand(async () => (await import('./save-table.js')).saveTable);
 * ```
 */
export function onDemand<Args extends readonly unknown[], T>(
  load: () => Promise<(...args: Args) => Promise<T>>,
): (...args: Args) => Promise<T> {
  return async (...args) => (await load())(...args);
}
