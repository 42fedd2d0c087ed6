/** @file The recipe that a run's folder keeps, read again: checked, since anybody may have changed the file. */
import { MonolithError } from '../base/errors.js';
import { lazySchema } from '../base/lazy-module.js';
import { type Recipe, ZOO_MODELS } from './recipe.js';

/** What is not named here is kept as it is. */
const recipeSchema = lazySchema((z) =>
  z.looseObject({
    version: z.literal(1),
    label: z.looseObject({
      column: z.string(),
      rule: z.string().optional(),
      positive: z.array(z.string()).optional(),
      text: z.string(),
    }),
    columns: z.array(
      z.looseObject({
        name: z.string(),
        side: z.string().optional(),
        type: z.enum(['int', 'num', 'text', 'bool', 'time', 'list', 'empty']),
        role: z.enum(['id', 'ids', 'words', 'number', 'label', 'time', 'none']),
        split: z.string().optional(),
        max: z.number().int().positive().optional(),
        log: z.boolean().optional(),
        edges: z.array(z.number()).optional(),
        unit: z.enum(['s', 'ms']).optional(),
        nulls: z.array(z.string()).optional(),
        why: z.string().optional(),
      }),
    ),
    sides: z.array(z.looseObject({ file: z.string(), key: z.string() })),
    model: z.looseObject({ name: z.enum(ZOO_MODELS), dim: z.number().int().positive().optional() }),
  }),
);

/** ML_FILE_READ for what is no recipe, with the field. */
export function storedRecipe(value: unknown, file: string): Recipe {
  const { data, error } = recipeSchema().safeParse(value);
  if (data !== undefined) return data as Recipe;
  const [issue] = error.issues;
  const reason = `it is no recipe: ${issue!.path.join('.') || 'all of it'}: ${issue!.message}`;
  const hint = 'put the file back as it was, or train in another --model-dir';
  throw new MonolithError('ML_FILE_READ', { file, reason }, { hint });
}
