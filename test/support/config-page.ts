/** @file The tables of docs/config.md, made from the fields of configuration records. */
import { snakeName } from '../../src/base/snake-case.js';
import { ENVIRONMENT } from '../../src/train/config/environment.js';
import { type Field, type FieldTable, sameFieldValue, typeText } from '../../src/train/config/field.js';
import { processFields } from '../../src/train/config/process-flags.js';
import { runConfigFields, runnerFields } from '../../src/train/config/runner-fields.js';
import { cpuTrainingFields, distributedFields } from '../../src/train/config/training-fields.js';

const shown = (value: unknown) => (value === null ? 'null' : value === '' ? '""' : String(value));
const cell = (text: string) => text.replaceAll('|', '\\|');

const flagOf = (name: string, { flag }: Field) =>
  flag === false ? '' : `\`--${flag === true ? snakeName(name) : flag}\``;

function table(fields: FieldTable): string {
  const rows = Object.entries(fields).map(
    ([name, field]) =>
      `| ${name} | ${flagOf(name, field)} | ${typeText(field)} | ${shown(field.default)} | ${cell(field.help)} |`,
  );
  return ['| field | flag | type | default | meaning |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

/** Fields of RunConfig that RunnerConfig has not, or has with another default. */
function runConfigTable(): string {
  const runner: FieldTable = { ...cpuTrainingFields, ...distributedFields, ...runnerFields };
  const other = Object.entries(runConfigFields).filter(([name, field]) => {
    const same = Object.hasOwn(runner, name) ? runner[name] : undefined;
    return same === undefined || !sameFieldValue(same.default, field.default);
  });
  return table(Object.fromEntries(other.map(([name, field]) => [name, { ...field, flag: false }])));
}

function environmentTable(): string {
  const rows = Object.entries(ENVIRONMENT).map(
    ([name, { default: value, help }]) => `| ${name} | ${value === null ? '' : value} | ${cell(help)} |`,
  );
  return ['| variable | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

const TABLES: Readonly<Record<string, () => string>> = {
  'cpu-training': () => table(cpuTrainingFields),
  distributed: () => table(distributedFields),
  runner: () => table(runnerFields),
  'run-config': runConfigTable,
  process: () => table(processFields),
  environment: environmentTable,
};

/** The page with its tables made anew. */
export function configPage(page: string): string {
  return page.replace(/<!-- table (\S+) -->\n[\s\S]*?<!-- end -->/g, (_, name: string) => {
    return `<!-- table ${name} -->\n\n${TABLES[name]!()}\n\n<!-- end -->`;
  });
}
