/**
 * @file A schema as plain data, and back. Functions cannot be in a file: of a feature that has one it is said that it
 * does, and whoever reads the file gives the schema himself.
 */
import { MonolithError } from '../base/errors.js';
import { lazySchema } from '../base/lazy-module.js';
import type { Field } from '../data/field.js';
import { functionOf, KNOWN_FUNCTIONS, type KnownFunction, nameOfFunction } from '../data/known-functions.js';
import { defineSchema, type Feature, type Features, type Schema } from '../data/schema.js';

const FUNCTIONS = ['map', 'parse'] as const;

const featureSchema = lazySchema((z) => {
  const count = z
    .number()
    .int()
    .positive()
    .max(2 ** 22);
  const from = z.string().min(1).max(4096).optional();
  const lifetime = {
    minCount: count.default(1),
    expireDays: count.optional(),
    remembered: z
      .number()
      .int()
      .positive()
      .max(2 ** 31)
      .default(2 ** 22),
  };
  const functions = z.array(z.enum(FUNCTIONS)).optional();
  const known = z.strictObject({ map: z.enum(KNOWN_FUNCTIONS) }).optional();
  const field = z.discriminatedUnion('role', [
    z.strictObject({ role: z.literal('id'), from, ...lifetime, functions, known }),
    z.strictObject({
      role: z.literal('ids'),
      from,
      ...lifetime,
      split: z.string().min(1).max(64),
      max: count.optional(),
      weights: z.union([z.string().max(64), z.strictObject({ from: z.string().min(1).max(4096) })]).optional(),
      functions,
      known,
    }),
    z.strictObject({
      role: z.literal('number'),
      from,
      standardise: z.boolean(),
      fallback: z.number().optional(),
      edges: z.array(z.number()).min(2).max(1024).optional(),
      functions,
      known,
    }),
    z.strictObject({
      role: z.literal('label'),
      from,
      rule: z.strictObject({ operator: z.enum(['>=', '>', '<=', '<', '==', '!=']), value: z.number() }).optional(),
      positive: z.array(z.string()).optional(),
      classes: z.array(z.string()).optional(),
      functions,
    }),
    z.strictObject({ role: z.literal('time'), from, unit: z.enum(['s', 'ms']) }),
    z.strictObject({ role: z.literal('int'), from }),
  ]);
  const common = { name: z.string().min(1).max(4096), field: field.optional() };
  return z
    .array(
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('dense'), width: count, ...common }),
        z.strictObject({ kind: z.literal('ids'), width: count, ...common }),
        z.strictObject({
          kind: z.literal('ragged'),
          valuesPerRow: z
            .number()
            .positive()
            .max(2 ** 20),
          rowMax: z
            .int()
            .positive()
            .max(2 ** 31 - 1)
            .optional(),
          weighted: z.boolean().optional(),
          ...common,
        }),
      ]),
    )
    .min(1)
    .max(2 ** 16);
});

/** The zod schema of the list, for documents that hold one. */
export const portableFeatures = featureSchema;
export type PortableFeature = ReturnType<ReturnType<typeof featureSchema>['parse']>[number];

/** The features of a schema in their order. */
export function portableSchema(features: Features): PortableFeature[] {
  return Object.entries(features).map(([name, { field, ...feature }]) => {
    const kept = field === undefined ? {} : { field: portableField(field) };
    return { name, ...defined(feature), ...kept } as PortableFeature;
  });
}

function portableField(field: Field): object {
  const entries = Object.entries(field).filter(([, value]) => value !== undefined && typeof value !== 'function');
  const given = field as unknown as { readonly [key: string]: unknown };
  // Those with a name are the same everywhere; of all others it is only said that there is one.
  const known = field.role === 'label' ? undefined : nameOfFunction(given.map);
  const functions = FUNCTIONS.filter(
    (name) => typeof given[name] === 'function' && (name !== 'map' || known === undefined),
  );
  return {
    ...Object.fromEntries(entries),
    ...(functions.length > 0 && { functions }),
    ...(known !== undefined && { known: { map: known } }),
  };
}

const defined = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));

/** The schema again. */
export function readSchema(list: readonly PortableFeature[]): Schema<Features> {
  const features = Object.fromEntries(list.map(({ name, ...feature }) => [name, featureOf(feature)]));
  if (Object.keys(features).length !== list.length) {
    throw new MonolithError('ML_FEED', { name: 'schema', reason: 'two features have one name' });
  }
  return defineSchema(features);
}

function featureOf({ field, ...feature }: Omit<PortableFeature, 'name'>): Feature {
  if (field === undefined) return feature as Feature;
  const {
    functions: _,
    known,
    ...plain
  } = field as {
    readonly functions?: unknown;
    readonly known?: { readonly map: KnownFunction };
  };
  const map = known === undefined ? undefined : functionOf(known.map);
  return { ...feature, field: { ...plain, ...NO_FUNCTIONS, map } } as unknown as Feature;
}

const NO_FUNCTIONS = { map: undefined, parse: undefined };

/** Features whose cells go through a function that only the program has. */
export function withFunctions(list: readonly PortableFeature[]): string[] {
  return list.flatMap(({ name, field }) =>
    field !== undefined && 'functions' in field && (field.functions?.length ?? 0) > 0 && field.role !== 'label'
      ? [name]
      : [],
  );
}
