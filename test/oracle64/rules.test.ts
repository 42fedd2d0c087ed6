import { readdirSync } from 'node:fs';
import t from 'tap';
import * as optimizers from '../../src/compat/optimizers.js';
import type { OpDef } from '../../src/graph/graph.js';
import { OPTIMIZER_MESSAGES } from '../../src/sparse/config/config-messages.js';
import { DENSE_RULES } from './dense-optimizers.js';
import { DENSE_OPTIMIZERS, ROW_OPTIMIZERS } from './recipe.js';
import { ROW_RULES } from './row-optimizers.js';
import { RULES, WITHOUT_RULE } from './rules.js';

// Tests run from build/test/oracle64/.
const SOURCES = new URL('../../src/', import.meta.url);
const FOLDERS = ['graph', 'graph/ops', 'sparse/steps', 'optim', 'feature/model', 'layers', 'queue'];
/** Optimizers that no random graph has, with the reason. */
const OPTIMIZERS_WITHOUT: Readonly<Record<string, string>> = {
  dc: 'a decorator of other optimizers that cannot run alone',
  Shampoo: 'eigenvectors of few gradients are badly conditioned: test/optim/shampoo.test.ts holds it to a plain one',
};

const isDef = (value: unknown): value is OpDef<unknown> =>
  typeof value === 'object' &&
  value !== null &&
  'infer' in value &&
  typeof (value as { type?: unknown }).type === 'string';

/** Every definition of an op that a module of `src` exports. */
async function definitions(): Promise<Map<string, OpDef<unknown>>> {
  const found = new Map<string, OpDef<unknown>>();
  for (const folder of FOLDERS) {
    for (const file of readdirSync(new URL(`${folder}/`, SOURCES)).filter((name) => name.endsWith('.js'))) {
      const exported = (await import(new URL(`${folder}/${file}`, SOURCES).href)) as Record<string, unknown>;
      for (const def of Object.values(exported).filter(isDef)) found.set(def.type, def);
    }
  }
  return found;
}

t.test('every op has a rule of the oracle, or a reason to have none', async (t) => {
  const found = await definitions();
  t.ok(found.size > 80, `${found.size} ops are found`);
  for (const [type, { gradient }] of found) {
    t.ok(RULES.has(type) !== type in WITHOUT_RULE, `${type} is in one of the two lists`);
    // The adjoint of a gather scatters, and passes gradients on in turn; nobody else makes one.
    if (gradient && type !== 'ScatterInner') t.ok(RULES.has(type), `${type} passes gradients on, so it has a rule`);
  }
  for (const type of [...RULES.keys(), ...Object.keys(WITHOUT_RULE)]) t.ok(found.has(type), `${type} is an op`);
});

t.test('every optimizer has a rule of the oracle, or a reason to have none', async (t) => {
  const without = (names: readonly string[]) => names.filter((name) => !(name in OPTIMIZERS_WITHOUT)).sort();
  const rows = without(Object.keys(OPTIMIZER_MESSAGES));
  t.same(Object.keys(ROW_RULES).sort(), rows);
  t.same([...ROW_OPTIMIZERS].sort(), rows, 'tables of random graphs have them all');
  const classes = Object.keys(optimizers).filter((name) => name !== 'Optimizer' && name.endsWith('Optimizer'));
  const dense = without(classes.map((name) => name.replace('Optimizer', '')));
  t.same(
    Object.keys(DENSE_RULES)
      .filter((name) => !name.startsWith('rows'))
      .sort(),
    dense,
  );
  t.same([...DENSE_OPTIMIZERS].sort(), Object.keys(DENSE_RULES).sort(), 'so have variables');
});
