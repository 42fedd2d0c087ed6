/** @file What the kernels that decode are told of each field of a schema. */
import { CELL_FLAG, CELL_KIND, RULE } from '../../memory/decode-layout.js';
import { columnOf } from '../encode-rows.js';
import { type Field, type LabelRule, MISSING_NUMBER } from '../field.js';
import type { Feature, Features, Schema } from '../schema.js';

/** Ids of a row that a block has room for, on average; a row beyond it begins a new block. */
const IDS_ROOM = 64;
const I32_MAX = 2 ** 31 - 1;

/** What a value of a column is. */
export const CELL_BYTES_OF: Readonly<Record<number, 'f32' | 'f64' | 'i64' | 'splits'>> = {
  [CELL_KIND.float]: 'f32',
  [CELL_KIND.double]: 'f64',
  [CELL_KIND.id]: 'i64',
  [CELL_KIND.ids]: 'splits',
  [CELL_KIND.rule]: 'f32',
  [CELL_KIND.text]: 'f32',
  [CELL_KIND.oneOf]: 'f32',
  [CELL_KIND.time]: 'i64',
  [CELL_KIND.int]: 'i64',
  [CELL_KIND.hash]: 'i64',
};

export interface CellPlan {
  readonly name: string;
  /** The column it comes from. */
  readonly column: string;
  readonly words: {
    readonly kind: number;
    readonly capacity: number;
    readonly max: number;
    readonly split: number;
    readonly flags: number;
    readonly perRow: number;
    readonly operator: number;
    readonly weightMark: number;
    readonly width: number;
  };
  readonly operand: number;
  /** In place of a missing number; undefined where one that is missing is left to the slow way. */
  readonly missing: number | undefined;
  readonly texts: readonly string[] | undefined;
  /** Of a double the float that is fed. */
  readonly mapped: (value: number) => number;
  /** Where lists of texts are. */
  nullsAt: number;
  textsAt: number;
}

const PLAIN = { capacity: 0, max: I32_MAX, split: 0, flags: 0, perRow: 0, operator: 0, weightMark: 0, width: 1 };
const OPERATORS: Readonly<Record<LabelRule['operator'], number>> = {
  '>=': RULE.atLeast,
  '>': RULE.above,
  '<=': RULE.atMost,
  '<': RULE.below,
  '==': RULE.equal,
  '!=': RULE.other,
};

/** Plans of all fields, in the order of the schema; `key` adds the column that parts rows. */
export function cellPlans(schema: Schema<Features>, blockRows: number, key: string | undefined): CellPlan[] {
  const plans = Object.entries(schema.features).map(([name, feature]) => cellPlan(name, feature, blockRows));
  if (key !== undefined) plans.push(planOf(key, key, { kind: CELL_KIND.hash }));
  return plans;
}

type More = Partial<CellPlan['words']> & { readonly kind: number };

function planOf(name: string, column: string, words: More, more: Partial<CellPlan> = {}): CellPlan {
  const rest = { operand: 0, missing: undefined, texts: undefined, mapped: (value: number) => value };
  return { name, column, words: { ...PLAIN, ...words }, ...rest, ...more, nullsAt: 0, textsAt: 0 };
}

function cellPlan(name: string, feature: Feature, blockRows: number): CellPlan {
  const column = columnOf(name, feature);
  const { field } = feature;
  if (feature.kind === 'ragged') {
    const { split = ',', max = I32_MAX, weights, map } = field?.role === 'ids' ? field : {};
    const words = {
      kind: CELL_KIND.ids,
      capacity: blockRows * IDS_ROOM,
      max,
      split: split.charCodeAt(0),
      flags: (map === undefined ? 0 : CELL_FLAG.lower) | (feature.weighted === true ? CELL_FLAG.weighted : 0),
      perRow: feature.weighted === true ? feature.valuesPerRow : 0,
      weightMark: typeof weights === 'string' ? weights.charCodeAt(0) : 0,
    };
    return planOf(name, column, words);
  }
  const { width } = feature;
  if (field === undefined) {
    return planOf(name, column, { kind: feature.kind === 'dense' ? CELL_KIND.float : CELL_KIND.int, width });
  }
  return fieldPlan(name, column, field, width);
}

function fieldPlan(name: string, column: string, field: Field, width: number): CellPlan {
  switch (field.role) {
    case 'id':
      return planOf(name, column, { kind: CELL_KIND.id, flags: field.map === undefined ? 0 : CELL_FLAG.lower });
    case 'number': {
      const { map, fallback } = field;
      const missing = fallback ?? MISSING_NUMBER;
      if (map === undefined) return planOf(name, column, { kind: CELL_KIND.float, width }, { missing });
      const mapped = (value: number) => (Number.isNaN(value) ? missing : map(value));
      return planOf(name, column, { kind: CELL_KIND.double, width }, { missing, mapped });
    }
    case 'label': {
      const { rule, positive, classes } = field;
      if (rule !== undefined) {
        const words = { kind: CELL_KIND.rule, operator: OPERATORS[rule.operator] };
        return planOf(name, column, words, { operand: rule.value });
      }
      if (positive !== undefined) return planOf(name, column, { kind: CELL_KIND.text }, { texts: positive });
      if (classes !== undefined) return planOf(name, column, { kind: CELL_KIND.oneOf }, { texts: classes });
      return planOf(name, column, { kind: CELL_KIND.float });
    }
    case 'time':
      return planOf(name, column, { kind: CELL_KIND.time, flags: field.unit === 'ms' ? CELL_FLAG.ms : 0 });
    case 'int':
      return planOf(name, column, { kind: CELL_KIND.int });
    default:
      // Many ids are ragged, which is known before.
      return planOf(name, column, { kind: CELL_KIND.hash });
  }
}
