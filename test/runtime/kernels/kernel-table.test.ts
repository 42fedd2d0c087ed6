/** @file The kernel table against what it stands for: functions of assembly/ and cuda/, the page of the docs, `emit`. */
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { TWINS } from '../../../src/runtime/backends/reference/kernels.js';
import { Code } from '../../../src/runtime/compile/code.js';
import { KERNEL, KERNELS } from '../../../src/runtime/kernels/kernels.js';

// Tests run from build/test/runtime/kernels/.
const ROOT = new URL('../../../../', import.meta.url);

/** Lists of parameters by the name of their function, of all files with the ending in a folder. */
function parametersIn(folder: string, ending: string, declaration: RegExp): Map<string, string[]> {
  const files = readdirSync(new URL(folder, ROOT), { recursive: true }) as string[];
  const sources = files
    .filter((file) => file.endsWith(ending))
    .map((file) => readFileSync(new URL(folder + file, ROOT)));
  return new Map(
    sources.flatMap((source) =>
      [...String(source).matchAll(declaration)].map(([, name, list]) => {
        const parameters = list!.split(',').map((parameter) => parameter.trim());
        return [name!, parameters.filter((parameter) => parameter !== '')] as const;
      }),
    ),
  );
}

t.test('functions of assembly/ have the operands of the table, by name and kind', async (t) => {
  const found = parametersIn('assembly/', '.ts', /^export function (\w+)\(([^)]*)\)/gm);
  for (const { name, module, words } of KERNELS.values()) {
    if (module === 'host') continue;
    const kinds = { address: 'usize', count: 'i32', float: 'f32' };
    const parameters = found.get(name)?.map((parameter) => parameter.replace(/: (u32|i32)$/, ': i32'));
    t.same(
      parameters,
      words.map((word) => `${word.name}: ${kinds[word.kind]}`),
      name,
    );
  }
});

t.test('functions of cuda/ have the operands of the table, in its order', async (t) => {
  const found = parametersIn('cuda/kernels/', '.cu', /^KERNEL (\w+)\(([^)]*)\)/gm);
  const shared = [...KERNELS.values()].filter(({ name }) => found.has(name));
  t.ok(shared.length > 90, `${shared.length} kernels are found`);
  for (const { name, words } of shared) {
    const kinds = found.get(name)!.map((p) => (p.includes('*') ? 'address' : /\bfloat\b/.test(p) ? 'float' : 'count'));
    t.same(
      kinds,
      words.map(({ kind }) => kind),
      name,
    );
  }
});

t.test('twins of the reference have no list of parameters of their own', async (t) => {
  for (const kernel of KERNELS.values()) {
    if (kernel.module === 'host' || kernel === (KERNEL.tableTouch as unknown)) continue;
    t.equal(TWINS.get(kernel.name)?.kernel, kernel, `${kernel.name} takes the words of the table`);
  }
  const own = parametersIn('src/runtime/backends/reference/', '.ts', /^export function (\w+)\(m: Views,([^)]*)\)/gm);
  t.same(
    [...own.keys()].filter((name) => KERNELS.has(name)),
    [],
    'none of them is written as a function of operands in order',
  );
});

t.test('docs/kernels.md is what its generator writes', async (t) => {
  const { generateKernels, KERNELS_FILE } = (await import(new URL('docs/generate-kernels.mjs', ROOT).href)) as {
    generateKernels(): string;
    KERNELS_FILE: string;
  };
  t.equal(readFileSync(KERNELS_FILE, 'utf8'), generateKernels(), 'run `npm run generate`');
});

t.test('emit takes what the table names and nothing else', async (t) => {
  const code = new Code();
  const one = code.constant(1);
  const half = code.constantF32(0.5);
  const matrix = { pointer: one, stride: one };
  const whole = { src: matrix, dst: matrix, rows: one, cols: one, factor: half, acc: one };
  const { acc: _, ...less } = whole;
  const more = { ...whole, columns: one };
  t.doesNotThrow(() => code.emit(KERNEL.scaleF32, whole, { traceName: 0 }));
  // @ts-expect-error: an operand is missing.
  t.throws(() => code.emit(KERNEL.scaleF32, less, { traceName: 0 }), /scaleF32 needs its operand acc/);
  // @ts-expect-error: an operand is left over, though it was spread.
  t.throws(() => code.emit(KERNEL.scaleF32, more, { traceName: 0 }), /scaleF32 has no operand columns/);
  // @ts-expect-error: a count stands where a float belongs.
  code.emit(KERNEL.scaleF32, { ...whole, factor: one }, { traceName: 0 });
  // @ts-expect-error: a number is no register.
  code.emit(KERNEL.scaleF32, { ...whole, rows: 3 }, { traceName: 0 });
  // @ts-expect-error: an address without its stride is no matrix.
  t.throws(() => code.emit(KERNEL.scaleF32, { ...whole, src: one }, { traceName: 0 }), /its operand src/);
});
