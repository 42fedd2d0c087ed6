import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import type { Recipe } from '../../src/recipe/recipe.js';
import { storedRecipe } from '../../src/recipe/stored-recipe.js';
import { Mutator } from '../faults/mutate.js';

const recipe: Recipe = {
  version: 1,
  label: { column: 'bought', rule: '==1', text: '1 or 0' },
  columns: [
    { name: 'user', type: 'text', role: 'id' },
    { name: 'tags', type: 'list', role: 'ids', split: '|', max: 20, why: 'many' },
    { name: 'price', side: 'items.csv', type: 'num', role: 'number', log: true, nulls: ['n/a'] },
    { name: 'when', type: 'time', role: 'time', unit: 'ms' },
    { name: 'bought', type: 'int', role: 'label' },
  ],
  sides: [{ file: 'items.csv', key: 'item' }],
  model: { name: 'deepfm', dim: 8 },
};

t.test('a recipe is read as it was written, with what later versions add', async (t) => {
  t.same(storedRecipe(JSON.parse(JSON.stringify(recipe)), 'schema.json'), recipe);
  t.match(storedRecipe({ ...recipe, more: [1] }, 'schema.json'), { more: [1] });
});

t.test('what is none is named with its field', async (t) => {
  const cases: [unknown, RegExp][] = [
    [[], /no recipe: all of it/],
    [{ ...recipe, columns: 7 }, /columns:/],
    [{ ...recipe, label: null }, /label:/],
    [{ ...recipe, columns: [{ ...recipe.columns[0], role: 'idz' }] }, /columns\.0\.role: .*"ids"/],
    [{ ...recipe, model: { name: '../etc' } }, /model\.name/],
  ];
  for (const [value, message] of cases) {
    t.throws(() => storedRecipe(value, 'schema.json'), { code: 'ML_FILE_READ', message, hint: /--model-dir/ });
  }
});

t.test('a damaged one is an error with a code, or a recipe', async (t) => {
  for (let seed = 0; seed < 300; seed++) {
    try {
      const found = storedRecipe(new Mutator(seed).json(recipe), 'schema.json');
      t.ok(found.columns.every(({ name, role }) => typeof name === 'string' && typeof role === 'string'));
    } catch (error) {
      t.ok(error instanceof MonolithError && error.code === 'ML_FILE_READ', String(error));
    }
  }
});
