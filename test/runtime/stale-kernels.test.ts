/** @file Modules of kernels that were built for another kernel table. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { checkTable, kernelFile } from '../../src/runtime/backends/wasm/load-kernels.js';
import { DIGEST_SECTION, kernelTableDigest } from '../../src/runtime/kernels/table-digest.js';

t.test('every build says for which kernel table it was made', async (t) => {
  for (const variant of ['plain', 'relaxed', 'wide'] as const) {
    t.ok(readFileSync(kernelFile(variant)).includes(DIGEST_SECTION + kernelTableDigest()), variant);
  }
});

t.test('a module that was built for another table is refused, with what to do', async (t) => {
  const digest = kernelTableDigest();
  t.match(digest, /^[0-9a-f]{16}$/);
  const bytes = readFileSync(kernelFile('plain'));
  const at = bytes.lastIndexOf(DIGEST_SECTION + digest);
  const module = new WebAssembly.Module(bytes);
  t.equal(checkTable(module, 'kernels.wasm'), module, 'the one of this build is taken');
  const other = Buffer.from(bytes);
  other.write('0123456789abcdef', at + DIGEST_SECTION.length);
  t.throws(() => checkTable(new WebAssembly.Module(other), 'kernels.wasm'), {
    code: 'ML_WASM_STALE',
    message: new RegExp(`kernels.wasm is a build of other kernels: .*0123456789abcdef, not ${digest}`),
    hint: /npm run build/,
  });
  // Before the name of the section are its number, its length and that of the name.
  const before = bytes.subarray(0, at - 3);
  t.throws(() => checkTable(new WebAssembly.Module(before), 'old.wasm'), {
    code: 'ML_WASM_STALE',
    message: /names no kernel table/,
  });
});
