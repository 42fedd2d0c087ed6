import t from 'tap';
import { copyParamsTo, updateParams } from '../../../src/base/params/instantiable-params.js';
import { Params, type ParamsOf } from '../../../src/base/params/params.js';

/** Params whose names the compiler does not know, as a program in JavaScript has them. */
// biome-ignore lint/suspicious/noExplicitAny: any name may be asked for
type Loose = Params & Record<string, any>;
const loose = (): Loose => new Params() as Loose;
const unknown = (message: string) => ({ code: 'ML_PARAM_UNKNOWN', message });
const immutable = { code: 'ML_PARAM_IMMUTABLE', message: 'This Params instance is immutable.' };

// The cases of upstream's hyperparams_test, by their names.

t.test('test_equals', async (t) => {
  const [a, b] = [loose(), loose()];
  t.ok(a.equals(b));
  a.define('first', 'firstvalue', '');
  t.notOk(a.equals(b));
  b.define('first', 'firstvalue', '');
  t.ok(a.equals(b));
  const [some, other] = [new WeakMap(), new WeakMap()];
  a.define('second', some, '');
  b.define('second', other, '');
  t.notOk(a.equals(b), 'objects are themselves only');
  b.second = some;
  t.ok(a.equals(b));
  a.define('third', new Params(), '');
  b.define('third', new Params(), '');
  t.ok(a.equals(b));
  a.third.define('fourth', 'x', '');
  b.third.define('fourth', 'y', '');
  t.notOk(a.equals(b));
  b.third.fourth = 'x';
  t.ok(a.equals(b));
  t.notOk(a.equals(3));
  a.define('list', [1, { x: [2] }], '');
  b.define('list', [1, { x: [2] }], '');
  t.ok(a.equals(b), 'plain data is compared by content');
  b.list[1].x[0] = 3;
  t.notOk(a.equals(b));
});

t.test('test_deep_copy', async (t) => {
  const tensor = new Float32Array(1);
  const inner = new Params().define('alpha', 2, '').define('tensor', tensor, '');
  const outer = new Params().define('beta', [1, [2]], '').define('inner', inner, '');
  const copied = outer.copy();
  t.not(copied, outer);
  t.ok(outer.equals(copied));
  t.not(copied.inner, outer.inner);
  t.ok(copied.inner.equals(outer.inner));
  t.equal(copied.inner.tensor, tensor, 'an array of numbers is shared');
  copied.inner.alpha = 3;
  (copied.beta[1] as number[])[0] = 5;
  t.equal(outer.inner.alpha, 2);
  t.same(outer.beta, [1, [2]]);
});

t.test('test_copy_params_to', async (t) => {
  const nested = new Params().define('x', 1, '');
  const source = new Params().define('a', 'a', '').define('b', 'b', '').define('c', 'c', '').define('n', nested, '');
  const target = new Params().define('a', '', '').define('n', new Params() as Params, '');
  copyParamsTo(source, target, ['b', 'c']);
  t.equal(target.a, 'a');
  t.notOk('b' in target);
  t.notOk('c' in target);
  t.not(target.n, nested);
  t.ok(target.n.equals(nested));
});

t.test('test_define_existing', async (t) => {
  const p = new Params().define('foo', 1, '');
  t.throws(() => p.define('foo', 1, ''), { code: 'ML_PARAM_DEFINED', message: 'Parameter foo is already defined' });
});

t.test('test_legal_param_names', async (t) => {
  const p = new Params();
  for (const name of [null as unknown as string, '', '_foo', 'Foo', '1foo', 'foo$', '_immutable']) {
    t.throws(() => p.define(name, 1, ''), { code: 'ML_PARAM_NAME' }, String(name));
  }
  p.define('foo_bar', 1, '').define('foo9', 1, '');
  t.same(Object.keys(p), ['foo_bar', 'foo9']);
});

t.test('test_set_and_get', async (t) => {
  const p = loose();
  t.throws(() => p.set({ foo: 4 }), unknown('foo'));
  t.throws(() => {
    p.foo = 4;
  }, unknown('foo'));
  p.define('foo', 1, 'a number');
  t.equal(p.foo, 1);
  t.equal(p.get('foo'), 1);
  t.equal(p.help('foo'), 'a number');
  t.ok('foo' in p && p.contain('foo'));
  t.notOk('bar' in p);
  p.set({ foo: 2 });
  t.equal(p.foo, 2);
  p.foo = 3;
  t.equal(p.get('foo'), 3);
  p.delete('foo');
  t.notOk('foo' in p);
  t.throws(() => p.foo, unknown('foo'));
  t.throws(() => p.get('foo'), unknown('foo'));
});

t.test('test_set_and_get_nested_param', async (t) => {
  const innermost = new Params().define('delta', 22, '').define('zeta', 5, '');
  const inner = new Params().define('alpha', 2, '').define('innermost', innermost, '');
  const outer = new Params()
    .define('beta', 1, '')
    .define('inner', inner, '')
    .define('d', { foo: 'bar' }, '')
    .define('list', [inner], '');
  const delta: number = outer.get('inner.innermost.delta');
  t.equal(delta, 22);
  t.equal(outer.inner.innermost.zeta, 5);
  t.equal(outer.get('d').foo, 'bar');
  outer.set({ 'inner.alpha': 3, d: { foo: 'baq' } });
  t.equal(inner.alpha, 3);
  t.equal(outer.d.foo, 'baq');
  t.equal(outer.get('list[0].alpha'), 3, 'a list of params is gone into');
  outer.delete('beta', 'inner.innermost.zeta');
  t.throws(() => outer.beta, unknown('beta'));
  t.throws(() => outer.get('inner.innermost.zeta'), unknown('inner.innermost.zeta'));
  t.throws(() => outer.set({ 'inner.gamma': 5 }), unknown('inner.gamma'));
  t.throws(() => outer.set({ 'inner.innermost.bad': 5 }), unknown('inner.innermost.bad'));
  t.throws(() => outer.set({ 'iner.alpha': 5 }), unknown('iner (did you mean: [inner])'));
  const path = { code: 'ML_PARAM_PATH', message: 'Cannot introspect Object for d' };
  t.throws(() => outer.set({ 'd.foo': 'baz' }), path);
  t.throws(() => outer.get('list[1].alpha'), { message: 'Cannot introspect undefined for list[1]' });
  t.throws(() => outer.set({ d: { foo: 'x' }, bad: 1 }), unknown('bad'));
  t.equal(outer.d.foo, 'baq', 'nothing is set when one of the names is unknown');
});

t.test('test_freeze', async (t) => {
  const p = loose();
  p.define('foo', 1, '');
  p.define('nested', p.copy(), '');
  p.freeze();
  t.ok(p.isImmutable());
  t.throws(() => p.set({ foo: 2 }), immutable);
  t.throws(() => p.set({ 'nested.foo': 2 }), immutable);
  t.throws(() => {
    p.foo = 3;
  }, immutable);
  t.throws(() => p.delete('foo'), immutable);
  t.throws(() => p.define('bar', 1, ''), immutable);
  t.throws(() => {
    delete p.foo;
  }, immutable);
  t.equal(p.foo, 1);
  t.throws(() => p.get('bar'), unknown('bar'));
  p.nested.foo = 2;
  t.equal(p.nested.foo, 2, 'nested params are frozen by themselves');
  t.throws(() => p.copy().set({ foo: 2 }), immutable, 'copies are immutable too');
  const open = new Params().define('inner', new Params().define('x', 1, '').freeze(), '').define('y', 1, '');
  t.throws(() => open.set({ y: 2, 'inner.x': 2 }), immutable);
  t.equal(open.y, 1);
});

t.test('test_to_string', async (t) => {
  const inner = new Params().define('bar', 2, '');
  const outer = new Params()
    .define('foo', 1, '')
    .define('inner', inner, '')
    .define('list', [1, inner, 2], '')
    .define('dict', { a: 1, b: inner }, '')
    .define('text', 'x', '')
    .define('cls', Map, '')
    .define('none', null, '');
  const lines = ['{', '  cls: Map', "  dict: {'a': 1, 'b': {'bar': 2}}", '  foo: 1', '  inner: {', '    bar: 2', '  }'];
  const text = [...lines, "  list: [1, {'bar': 2}, 2]", '  none: null', '  text: "x"', '}'].join('\n');
  t.equal(String(outer), text);
  t.same(JSON.parse(JSON.stringify(outer)).inner, { bar: 2 });
});

t.test('test_iter_params', async (t) => {
  const values = { a: true, b: null, c: 'zippidy', d: 78.5, e: 5 };
  const p = new Params();
  for (const [name, value] of Object.entries(values)) p.define(name, value, `description of ${name}`);
  t.same([...p.iterParams()], Object.entries(values));
  t.same({ ...p }, values);
});

t.test('test_similar_keys', async (t) => {
  const p = loose();
  for (const name of ['activations', 'activation', 'cheesecake', 'tofu']) p.define(name, null, '');
  const error = unknown('actuvation (did you mean: [activation,activations])');
  t.throws(() => {
    p.actuvation = 1;
  }, error);
  t.throws(() => p.actuvation, error);
  t.throws(() => p.get('actuvation'), error);
  t.throws(() => p.xy, unknown('xy'), 'two letters are like nothing');
});

t.test('types follow what was defined', async (t) => {
  const train = new Params().define('steps', 100, '').define('label_key', 'label', '');
  const p: ParamsOf<{ train: typeof train }> = new Params().define('train', train, '');
  p.train.steps = 200;
  const steps: number = p.get('train.steps');
  const key: string = p.train.label_key;
  t.same([steps, key], [200, 'label']);
  // @ts-expect-error a string is not a number of steps
  p.train.steps = 'many';
  t.equal(await p, p, 'params can be awaited');
});

t.test('updateParams moves what it finds', async (t) => {
  const p = new Params().define('inner', new Params().define('x', 1, ''), '').define('y', 1, '');
  const args = { x: 2, z: 3 };
  updateParams(p as unknown as Params, args);
  t.same([p.inner.x, p.y], [2, 1]);
  t.same(args, { z: 3 });
});
