/**
 * @file zod, loaded by the first call that needs it: what reads files that others wrote is called rarely, and loading zod costs
 * tens of milliseconds of every import of the package.
 */
import { createRequire } from 'node:module';
import type { z } from 'zod';

const require = createRequire(import.meta.url);

/** A schema that is made when it is first asked for. */
export function lazySchema<S>(make: (zod: typeof z) => S): () => S {
  let made: { readonly schema: S } | undefined;
  return () => {
    made ??= { schema: make((require('zod') as { readonly z: typeof z }).z) };
    return made.schema;
  };
}
