import t from 'tap';
import { allowedKwargs, InstantiableParams } from '../../../src/base/params/instantiable-params.js';
import { Params } from '../../../src/base/params/params.js';
import { getUname, params, withParams } from '../../../src/base/params/with-params.js';

class Layer {
  static readonly parameters: Readonly<Record<string, unknown>> = { units: undefined, use_bias: true };
  readonly options: Record<string, unknown>;
  constructor(options: Record<string, unknown>) {
    this.options = options;
  }
}

t.test('params come from what a class says it takes', async (t) => {
  const p = params(Layer);
  t.equal(p.get('cls'), Layer);
  t.match(p.get('name'), /^Layer(_\d+)?$/);
  t.same([p.get('units'), p.get('use_bias')], [null, true]);
  for (const name of allowedKwargs) t.ok(p.contain(name), name);
  p.set({ units: 8, input_dim: 4 });
  const layer: Layer = p.instantiate();
  t.ok(layer instanceof Layer);
  t.same(layer.options, { units: 8, use_bias: true, input_dim: 4, name: p.get('name') });
});

t.test('parameters of base classes come first and may get another default', async (t) => {
  class Wide extends Layer {
    static override readonly parameters = { use_bias: false, width: 3 };
  }
  const p = params(Wide);
  t.same([p.get('units'), p.get('use_bias'), p.get('width')], [null, false, 3]);
  t.ok(p.instantiate() instanceof Wide);
});

t.test('the nearest params() is built upon, wherever in its tree a parameter is', async (t) => {
  class Base {
    readonly kind = 'base';
    static params() {
      const inner = new Params().define('rate', 0.1, '').define('kept', 7, '');
      const p = new InstantiableParams(Base);
      p.define('name', 'base', '').define('inner', inner, '');
      return p;
    }
  }
  class Derived extends Base {
    static readonly parameters = { rate: 0.5, kept: undefined, extra: 1 };
    readonly options: Record<string, unknown>;
    constructor(options: Record<string, unknown>) {
      super();
      this.options = options;
    }
  }
  const p = params(Derived);
  t.equal(p.get('cls'), Derived);
  t.equal(p.get('name'), 'base', 'a name that is there stays');
  t.same([p.get('inner.rate'), p.get('inner.kept'), p.get('extra')], [0.5, 7, 1]);
  t.notOk(p.contain('rate'), 'it is set where it was');
  t.same(p.instantiate().options, { rate: 0.5, kept: 7, extra: 1, name: 'base' });
});

t.test('withParams gives a class its params()', async (t) => {
  const Dense = withParams(class Dense extends Layer {});
  t.equal(Dense.params().get('cls'), Dense);
  class Thin extends Dense {
    static override readonly parameters = { units: 1 };
  }
  const p = Thin.params();
  t.equal(p.get('cls'), Thin, 'asked of a class that extends it, they are of that class');
  t.equal(p.get('units'), 1);
  t.equal(p.get('use_bias'), true);
});

t.test('a class without named parameters is made from the params themselves', async (t) => {
  class Task {
    readonly p: Params;
    constructor(p: Params) {
      this.p = p;
    }
  }
  const p = new InstantiableParams(Task);
  p.define('steps', 3, '');
  const task = p.instantiate();
  t.equal(task.p, p);
  t.throws(() => new InstantiableParams().instantiate(), { code: 'ML_PARAM_CLASS' });
});

t.test('a copy makes the same class from its own values', async (t) => {
  const p = params(Layer);
  const copied = p.copy();
  t.ok(copied.equals(p));
  copied.set({ units: 2 });
  t.equal(copied.instantiate().options.units, 2);
  t.equal(p.get('units'), null);
});

t.test('names are told apart by a number', async (t) => {
  const name = 'OnlyHere';
  t.same([getUname(name), getUname(name), getUname(name)], [name, 'OnlyHere_1', 'OnlyHere_2']);
});
