/** @file The program that a recipe stands for, in TypeScript: schema, model and data. */
import type { FileOptions } from '../data/files/file-rows.js';
import { type ColumnPlan, featureColumns, type Recipe } from './recipe.js';

export interface EjectOptions {
  readonly data: string;
  readonly splitBy: string;
  readonly epochs: number;
  readonly batchSize: number;
  readonly seed: number;
  readonly options: FileOptions;
}

const quoted = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\t', '\\t')}'`;
const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name));

const LOG = 'const log = (value: number) => Math.sign(value) * Math.log1p(Math.abs(value));\n\n';
const leftOut = ({ name, why }: ColumnPlan): string => (why === undefined ? name : `${name} (${why})`);

/** The schema of a recipe, as a constant that is exported. */
export function schemaText({ label, columns }: Recipe): string {
  const rule = label.rule === undefined ? positiveOf(label.positive) : `{ rule: ${quoted(label.rule)} }`;
  const features = featureColumns({ columns }).map(
    (plan) => `  ${key(plan.name)}: ${fieldOf(plan)},${commentOf(plan)}`,
  );
  const time = columns.find(({ role }) => role === 'time');
  if (time !== undefined) features.push(`  ${key(time.name)}: f.time(${time.unit === 'ms' ? "{ unit: 'ms' }" : ''}),`);
  features.push(`  ${key(label.column)}: f.label(${rule}), // ${label.text.split(';')[0]}`);
  const left = columns.filter(({ role }) => role === 'none');
  const logs = columns.some(({ log, role }) => role === 'number' && log === true);
  return `${logs ? LOG : ''}export const schema = defineSchema({
${features.join('\n')}
});
${left.length === 0 ? '' : `// left out: ${left.map(leftOut).join(', ')}\n`}`;
}

/** The text of a module that `monolith train FILE` takes. */
export function ejected(recipe: Recipe, options: EjectOptions): string {
  const { sides, model } = recipe;
  const by = options.splitBy === 'files' ? 'row' : options.splitBy;
  const joined = sides.map(({ file, key: on }) => `.with(${quoted(file)}, { key: ${quoted(on)} })`).join('');
  return `/** @file The model of \`monolith train --data ${options.data}\`. Train it: npx monolith-ts train THIS_FILE */
import { ${namesOf(model.name === 'deepfm')} } from 'monolith-ts';

${schemaText(recipe)}
${modelText(recipe)}

const rows = Dataset.from(${quoted(options.data)}, schema${optionsText(options.options)})${joined};
const { train: known, test } = rows.split({ test: 0.1, by: ${quoted(by)}, seed: ${options.seed} });
const { train, test: validation } = known.split({ test: 0.1, by: ${quoted(by)}, seed: ${options.seed + 1} });

/** What is trained on, what chooses the best epoch, what reports. */
export const data = { train: train.shuffle(1 << 16), validation, test };
export const settings = { epochs: ${options.epochs}, batchSize: ${options.batchSize} };
`;
}

/** What the model is made with. */
const namesOf = (isDeepfm: boolean): string =>
  isDeepfm ? 'Dataset, defineModel, defineSchema, f, nn, ops' : 'Dataset, defineSchema, f, zoo';

/** DeepFM as it stands in the zoo, to be changed; other models by their name. */
function modelText(recipe: Recipe): string {
  const { model } = recipe;
  const { name, dim = 16 } = model;
  if (name !== 'deepfm') {
    const options = model.dim === undefined || name === 'lr' ? '' : `, { dim: ${model.dim} }`;
    return `export default zoo.${name}(schema${options});`;
  }
  const features = featureColumns(recipe);
  const ids = features.filter(({ role }) => role !== 'number').map((plan) => plan.name);
  const numbers = features.filter(({ role }) => role === 'number').map((plan) => plan.name);
  const of = (names: readonly string[]) => names.map((one) => `inputs${access(one)}`).join(', ');
  const lines = [`export default defineModel(schema, { name: 'deepfm' }, (inputs, m) => {`];
  const parts = numbers.map((one) => `inputs${access(one)}`);
  if (ids.length > 0) {
    lines.push(`  const fields = m.embed([${of(ids)}], { dim: ${dim}, bias: true });`);
    parts.unshift('...fields');
  }
  lines.push(`  const deep = nn.mlp(ops.concatColumns([${parts.join(', ')}]), [64, 32, 1], { name: 'deep' });`);
  const terms = ['deep', ...(ids.length > 0 ? ['m.biases()'] : [])];
  if (ids.length > 1) terms.push(`ops.fmPairs(ops.concatColumns(fields), { dim: ${dim} })`);
  lines.push(terms.length === 1 ? '  return m.binary(deep);' : `  return m.binary([${terms.join(', ')}]);`, '});');
  return lines.join('\n');
}

const access = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${quoted(name)}]`);

function positiveOf(positive: readonly string[] | undefined): string {
  if (positive === undefined) return '';
  return `{ positive: [${positive.map(quoted).join(', ')}] }`;
}

function fieldOf({ role, split, max, log, edges }: ColumnPlan): string {
  switch (role) {
    case 'ids':
      return `f.ids({ split: ${quoted(split ?? ',')}${max === undefined ? '' : `, max: ${max}`} })`;
    case 'words':
      return `f.ids({ split: ' ', max: ${max ?? 32}, map: (word) => String(word).toLowerCase() })`;
    case 'number':
      return numberOf(log === true, edges);
    default:
      return 'f.id()';
  }
}

function numberOf(log: boolean, edges: readonly number[] | undefined): string {
  const options = [...(log ? ['map: log'] : []), ...(edges === undefined ? [] : [`edges: [${edges.join(', ')}]`])];
  return options.length === 0 ? 'f.number()' : `f.number({ ${options.join(', ')} })`;
}

const commentOf = ({ type, side }: ColumnPlan): string => ` // ${type}${side === undefined ? '' : `, of ${side}`}`;

function optionsText(options: FileOptions): string {
  const { badRowsMax: _most, ...rest } = options;
  const told = Object.entries(rest).filter(([name, value]) => !(name === 'badRows' && value === 'stop'));
  if (told.length === 0) return '';
  const text = (value: unknown) =>
    Array.isArray(value) ? `[${value.map((one) => quoted(String(one))).join(', ')}]` : quoted(String(value));
  return `, { ${told.map(([name, value]) => `${name}: ${text(value)}`).join(', ')} }`;
}
