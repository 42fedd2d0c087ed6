/** @file The schema and the model that a recipe stands for. */
import { MonolithError } from '../base/errors.js';
import { f } from '../data/fields.js';
import { lowerCase, signedLog } from '../data/known-functions.js';
import { type Feature, type Features, Schema } from '../data/schema.js';
import type { Model } from '../train/model.js';
import { type ColumnPlan, featureColumns, type Recipe } from './recipe.js';

/** The feature of a column; undefined of one that is none. */
export function featureOf({ role, split, max, log, edges, unit }: ColumnPlan): Feature | undefined {
  switch (role) {
    case 'id':
      return f.id();
    case 'ids':
      return f.ids({ split: split ?? ',', ...(max !== undefined && { max }) });
    case 'words':
      return f.ids({ split: ' ', max: max ?? 32, map: lowerCase });
    case 'number':
      return f.number({ ...(log === true && { map: signedLog }), ...(edges && { edges }) });
    case 'time':
      return f.time({ unit: unit ?? 's' });
    case 'label':
    case 'none':
      return undefined;
    default:
      return role satisfies never;
  }
}

export interface RecipeSchemas {
  /** All features, with the label first. */
  readonly all: Schema<Features>;
  /** Those of the data itself, with the label. */
  readonly own: Schema<Features>;
  /** Those of side tables, by file. */
  readonly sides: ReadonlyMap<string, Schema<Features>>;
}

/** The name of the label's feature: that of its column. */
export const labelName = ({ label }: Pick<Recipe, 'label'>): string => label.column;

export function schemasOf(recipe: Recipe): RecipeSchemas {
  const { column, rule, positive } = recipe.label;
  const own: Record<string, Feature> = {
    [column]: f.label(rule === undefined ? (positive === undefined ? {} : { positive }) : { rule }),
  };
  const sides = new Map<string, Record<string, Feature>>();
  const all: Record<string, Feature> = { ...own };
  for (const plan of recipe.columns) {
    const feature = featureOf(plan);
    if (feature === undefined) continue;
    all[plan.name] = feature;
    if (plan.side === undefined) own[plan.name] = feature;
    else sides.set(plan.side, { ...sides.get(plan.side), [plan.name]: feature });
  }
  if (featureColumns(recipe).length === 0) {
    const left = recipe.columns.filter(({ role }) => role !== 'label');
    const reason = `no column but the label can be learnt from: ${left.map(described).join(', ')}`;
    throw new MonolithError(
      'ML_DATASET',
      { reason },
      { hint: '--id COLUMN or --number COLUMN makes a feature of one' },
    );
  }
  return {
    all: new Schema(all),
    own: new Schema(own),
    sides: new Map([...sides].map(([file, features]) => [file, new Schema(features)])),
  };
}

const described = ({ name, why }: ColumnPlan): string => (why === undefined ? name : `${name} (${why})`);

/** The model of the zoo that the recipe names. */
export async function modelOf(recipe: Recipe, schema: Schema<Features>): Promise<Model<Features>> {
  const { name, dim } = recipe.model;
  const zoo = await import('../zoo/deep.js');
  const options = dim === undefined || name === 'lr' ? {} : { dim };
  switch (name) {
    case 'deepfm':
      return zoo.deepfm(schema, options);
    case 'dcn':
      return zoo.dcn(schema, options);
    case 'wideAndDeep':
      return zoo.wideAndDeep(schema, options);
    case 'lr':
      return (await import('../zoo/lr.js')).lr(schema);
    case 'fm':
      return (await import('../zoo/fm.js')).fm(schema, options);
    case 'ffm':
      return (await import('../zoo/fm.js')).ffm(schema, options);
    default:
      return name satisfies never;
  }
}
