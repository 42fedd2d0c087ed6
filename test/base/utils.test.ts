import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  findMain,
  findMainByMarkers,
  getDebuggingInfoFileName,
  getLibopsPath,
  getLocalHost,
  getMetaGraphFileName,
  getTestTmpDir,
} from '../../src/base/files/paths.js';
import { checkList, extendAsList, toList } from '../../src/base/lists.js';
import { getMetricPrefix, setMetricPrefix } from '../../src/base/metric-prefix.js';
import { toSnakeCase } from '../../src/base/snake-case.js';

t.test('extendAsList fills a list up and repeats a value', async (t) => {
  t.same(extendAsList([1], 3), [1, null, null]);
  const full = [1, 2, 3];
  t.equal(extendAsList(full, 2), full, 'a list that is long enough is the same list');
  t.equal(extendAsList(full, 3), full);
  t.same(extendAsList('relu', 3), ['relu', 'relu', 'relu']);
  t.same(extendAsList(null, 2), [null, null]);
  t.same(extendAsList('x', 0), []);
  const options = { rate: 0.1 };
  const [first, second] = extendAsList(options, 2);
  t.equal(first, options);
  t.same(second, options);
  t.not(second, options, 'the others are copies');
  class Layer {}
  const layer = new Layer();
  t.ok(
    extendAsList(layer, 3).every((item) => item === layer),
    'what cannot be copied is repeated',
  );
  const call = () => 1;
  t.same(extendAsList(call, 2), [call, call]);
});

t.test('checkList takes lists of the right length', async (t) => {
  const list = [1, 2];
  t.equal(
    checkList(list, (length) => length === 2),
    list,
  );
  t.equal(
    checkList(null, () => false, true),
    null,
  );
  const none = { code: 'ML_LIST_NONE', message: 'ListChecker cannot accept None candidate' };
  t.throws(() => checkList(null, () => true), none);
  t.throws(() => checkList(undefined, () => true), none);
  const type = { code: 'ML_LIST_TYPE', message: 'ListChecker got candidate in the wrong type[string]' };
  t.throws(() => checkList('ab', () => true), type);
  t.throws(() => checkList({ length: 2 }, () => true, true), { code: 'ML_LIST_TYPE' });
  const range = { code: 'ML_LIST_RANGE', message: 'ListChecker got candidate beyonds the range' };
  t.throws(() => checkList(list, (length) => length > 2), range);
});

t.test('toList leaves lists alone', async (t) => {
  const list = [1];
  t.equal(toList(list), list);
  t.same(toList(1), [1]);
  t.same(toList(null), [null]);
});

t.test('names of classes become names of scopes', async (t) => {
  const cases = {
    Dense: 'dense',
    DenseLayer: 'dense_layer',
    MLP: 'mlp',
    MLPLayer: 'mlp_layer',
    getHTTPResponse: 'get_http_response',
    Layer2Norm: 'layer2_norm',
    _Hidden: 'private__hidden',
    _hidden: 'private_hidden',
    already_snake: 'already_snake',
  };
  t.same(Object.fromEntries(Object.keys(cases).map((name) => [name, toSnakeCase(name)])), cases);
});

t.test('the metric prefix is in the environment', async (t) => {
  t.teardown(() => delete process.env.MONOLITH_METRIC_PREFIX);
  delete process.env.MONOLITH_METRIC_PREFIX;
  t.equal(getMetricPrefix(), 'monolith.training');
  setMetricPrefix('monolith.training.click');
  t.equal(getMetricPrefix(), 'monolith.training.click');
  t.equal(process.env.MONOLITH_METRIC_PREFIX, 'monolith.training.click');
});

t.test('files of a model directory and of tests have their places', async (t) => {
  t.equal(getDebuggingInfoFileName('/m'), join('/m', 'debugging_info.pb'));
  t.equal(getMetaGraphFileName('/m'), join('/m', 'meta_graph_for_debugging.pb'));
  const before = process.env.TEST_TMPDIR;
  t.teardown(() => {
    if (before === undefined) delete process.env.TEST_TMPDIR;
    else process.env.TEST_TMPDIR = before;
  });
  delete process.env.TEST_TMPDIR;
  t.equal(getTestTmpDir(), '/tmp');
  process.env.TEST_TMPDIR = '/elsewhere';
  t.equal(getTestTmpDir(), '/elsewhere');
});

// testFindMain and testGetLibopsPath of monolith/utils_test.
t.test('the folder of the package is found from any file in it', async (t) => {
  t.ok(existsSync(join(findMain(), 'package.json')));
  t.ok(existsSync(getLibopsPath('build/kernels.wasm')));
  t.equal(findMain(getLibopsPath('src/base/files/paths.ts')), findMain());
  for (const file of ['/nowhere/at/all.py', '/x/monolith/path_utils.py']) {
    t.throws(() => findMainByMarkers(file, () => false), { code: 'ML_FILE_READ', message: /under bazel structure\?/ });
  }
  t.throws(() => findMain('/nowhere/at/all.js'), { code: 'ML_FILE_READ', message: /nowhere\/at\/all\.js/ });
});

t.test('the address of this host is that of its name', async (t) => {
  const lookup = async (name: string) => `address of ${name}`;
  t.equal(await getLocalHost({ platform: 'linux', hostname: 'h', lookup }), 'address of h');
  t.equal(await getLocalHost({ platform: 'win32', hostname: 'h', lookup }), 'address of h');
  t.equal(await getLocalHost({ platform: 'darwin', hostname: 'h', lookup }), 'address of h.local');
  t.equal(await getLocalHost({ platform: 'linux', hostname: '127.0.0.1' }), '127.0.0.1');
});
