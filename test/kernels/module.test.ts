import { readFileSync } from 'node:fs';
import t from 'tap';
import * as compress from '../../src/runtime/reference/compress.js';
import * as dense from '../../src/runtime/reference/dense.js';
import * as filter from '../../src/runtime/reference/filter.js';
import * as ops from '../../src/runtime/reference/ops.js';
import * as optim from '../../src/runtime/reference/optim.js';
import * as sparse from '../../src/runtime/reference/sparse.js';

const bytes = readFileSync(new URL('../../kernels.wasm', import.meta.url));
const module = new WebAssembly.Module(bytes);

/** Section ids of a WebAssembly binary, in file order: after 8 bytes of header, each is an id, a LEB128 size, a body. */
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

t.test(
  'the module has no data and no start function: an instance that joins a memory must not write to it',
  async (t) => {
    const ids = sectionIds(bytes);
    t.ok(ids.includes(CODE_SECTION), 'the sections were read');
    t.notOk(ids.includes(DATA_SECTION), 'no data section');
    t.notOk(ids.includes(START_SECTION), 'no start section');
  },
);

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
