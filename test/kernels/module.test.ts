import { readFileSync } from 'node:fs';
import t from 'tap';
import * as compress from '../../src/runtime/backends/reference/compress.js';
import * as dense from '../../src/runtime/backends/reference/dense.js';
import * as filter from '../../src/runtime/backends/reference/filter.js';
import * as ops from '../../src/runtime/backends/reference/ops.js';
import * as optim from '../../src/runtime/backends/reference/optim.js';
import * as sparse from '../../src/runtime/backends/reference/sparse.js';
import { VARIANT_FILES } from '../../src/runtime/backends/wasm/kernel-variants.js';

const MODULES = Object.values(VARIANT_FILES).map((name) => ({
  name,
  bytes: readFileSync(new URL(`../../${name}`, import.meta.url)),
}));
const module = new WebAssembly.Module(MODULES[0]!.bytes);

/**
 * Section ids of a WebAssembly binary, in file order: after 8 bytes of header, each is an id, a LEB128 size, a body.
 */
function sectionIds(binary: Uint8Array): number[] {
  const ids: number[] = [];
  let at = 8;
  while (at < binary.length) {
    ids.push(binary[at++]!);
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = binary[at++]!;
      size += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    at += size;
  }
  return ids;
}

const START_SECTION = 8;
const CODE_SECTION = 10;
const DATA_SECTION = 11;

t.test('no module has data or a start function: an instance that joins a memory must not write to it', async (t) => {
  for (const { name, bytes } of MODULES) {
    const ids = sectionIds(bytes);
    t.ok(ids.includes(CODE_SECTION), `${name}: the sections were read`);
    t.notOk(ids.includes(DATA_SECTION), `${name}: no data section`);
    t.notOk(ids.includes(START_SECTION), `${name}: no start section`);
  }
});

t.test('the module imports nothing but the memory, the clock and the way out to other memories', async (t) => {
  const imports = WebAssembly.Module.imports(module).map(({ module, name }) => `${module}.${name}`);
  t.ok(imports.includes('env.memory'));
  t.same(
    imports.filter((name) => !['env.memory', 'env.now', 'env.host'].includes(name)),
    [],
  );
});

t.test('every twin has its kernel, as the types of kernels say', async (t) => {
  const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  for (const [family, twins] of Object.entries({ compress, dense, filter, ops, optim, sparse })) {
    const names = Object.entries(twins).flatMap(([name, twin]) => (typeof twin === 'function' ? [name] : []));
    t.ok(names.length >= 5, `kernels of ${family} were found`);
    t.same(
      names.filter((name) => !exported.has(name)),
      [],
      family,
    );
  }
});

t.test('fused steps are in products alone: the plain module has none, the others few', async (t) => {
  /** f32x4.relaxed_madd is 0xfd 0x85 0x02. */
  const fused = (bytes: Uint8Array) =>
    bytes.reduce((n, byte, i) => n + Number(byte === 0xfd && bytes[i + 1] === 0x85 && bytes[i + 2] === 0x02), 0);
  const [plain, relaxed, wide] = MODULES.map(({ bytes }) => fused(bytes)) as [number, number, number];
  t.equal(plain, 0);
  // Two functions per tile and side, each with its unrolled steps, and less than 80 in matrix times vector.
  const [relaxedSteps, wideSteps] = [2 * (4 + 8) * 8, 2 * (2 + 16) * 24];
  t.ok(relaxed >= relaxedSteps && relaxed < relaxedSteps + 80, `${relaxed} in relaxed`);
  t.ok(wide >= wideSteps && wide < wideSteps + 80, `${wide} in wide`);
});

t.test('generated sources are what their generators write', async (t) => {
  const load = (name: string) => import(new URL(`../../../assembly/${name}`, import.meta.url).href);
  const { generateTiles, TILES_FILE } = (await load('generate-tiles.mjs')) as {
    generateTiles(): string;
    TILES_FILE: string;
  };
  const { generateLayouts, LAYOUTS_FILE } = (await load('generate-layouts.mjs')) as {
    generateLayouts(): string;
    LAYOUTS_FILE: string;
  };
  const { generateDispatch, DISPATCH_FILE } = (await load('generate-dispatch.mjs')) as {
    generateDispatch(): string;
    DISPATCH_FILE: string;
  };
  const { generateCudaLayouts, CUDA_LAYOUTS_FILE } = (await load('../cuda/generate-layouts.mjs')) as {
    generateCudaLayouts(): string;
    CUDA_LAYOUTS_FILE: string;
  };
  t.equal(readFileSync(CUDA_LAYOUTS_FILE, 'utf8'), generateCudaLayouts(), 'those of CUDA: run `npm run generate`');
  t.equal(readFileSync(DISPATCH_FILE, 'utf8'), generateDispatch(), 'the dispatch: run `npm run generate`');
  t.equal(readFileSync(TILES_FILE, 'utf8'), generateTiles(), 'the tiles of products: run `npm run generate`');
  t.equal(readFileSync(LAYOUTS_FILE, 'utf8'), generateLayouts(), 'the layouts: run `npm run generate`');
});
