import t from 'tap';

import { extendRecord, recordClass } from '../../../src/train/config/config-record.js';
import { bool, choice, float, int, maybeFunction, maybeMap, maybeText, text } from '../../../src/train/config/field.js';
import { Flags } from '../../../src/train/config/flags.js';
import {
  extractFlags,
  extractHelpInfo,
  linkDataclassToFlags,
  parseFlags,
  update,
  updateByFlags,
} from '../../../src/train/config/gflags-utils.js';

t.test('help is read from doc blocks, of base classes first', async (t) => {
  const doc = `A record.

  :param num_ps: Parameter
     servers,   all of them.
  :param a.b-c:  dotted
  :params x: none of it`;
  t.same(extractHelpInfo(doc), { num_ps: 'Parameter servers, all of them.', 'a.b-c': 'dotted :params x: none of it' });
  // biome-ignore lint/complexity/noStaticOnlyClass: a doc block is of a class
  class Base {
    static doc = ':param a: base\n:param b: base';
  }
  class Derived extends Base {
    static override doc = ':param b: derived';
  }
  t.same(extractHelpInfo(Derived), { a: 'base', b: 'derived' });
  t.same(extractHelpInfo(Derived, false), { b: 'derived' });
  t.same(extractHelpInfo(class extends Base {}), { a: 'base', b: 'base' });
});

class Basic extends recordClass({
  int1: int(0, 'One.'),
  int2: int(0, 'Two.'),
  level: choice(['low', 'high'], 'low', 'Level.'),
  names: maybeMap('Names.'),
  fn: maybeFunction<() => void>('Function.'),
  hidden: int(7, 'Hidden.', { flag: false }),
}) {}
class Further extends extendRecord(Basic, { ratio: float(0.5, 'Ratio.'), on: bool(true, 'On.') }) {}

t.test('flags are made of fields with a description', async (t) => {
  const flags = new Flags();
  flags.define('int2', { kind: 'string', default: 'taken', help: '' });
  extractFlags(Further, { flags, skipFlags: ['on'] });
  t.same(flags.names(), ['int2', 'int1', 'level', 'ratio'], 'a name that is taken is left out, and so are maps');
  t.match(flags.help(), '--ratio: float, default=0.5, Ratio.');
  t.match(flags.help(), '--level: enum, default=low, Level.');
  t.equal(flags.get('int2'), 'taken');
  const own = new Flags();
  extractFlags(Further, { flags: own, isNested: false });
  t.same(own.names(), ['ratio', 'on']);
});

t.test('A28: a record takes flags for fields that still have their defaults', async (t) => {
  const flags = new Flags();
  extractFlags(Further, { flags });
  const config = new Further({ int1: 1 });
  update(config, flags);
  t.match({ int1: 1, int2: 0 }, { int1: config.int1, int2: config.int2 }, 'nothing before a command line was read');
  flags.parse(['--int1=2', '--int2', '3', '--level=HIGH', '--noon']);
  update(config, flags);
  t.match(config, { int1: 1, int2: 3, level: 'high', on: false, ratio: 0.5 });
});

t.test('A28: fields that are linked to flags of other names', async (t) => {
  const flags = new Flags();
  flags.define('testflag6', { kind: 'string', default: '', help: '' });
  class Base extends recordClass({ v: maybeText('First.') }) {}
  class Derived extends extendRecord(Base, { w: maybeText('Second.') }) {}
  linkDataclassToFlags([], { v: 'testflag6' }, flags)(Base);
  linkDataclassToFlags([], { w: 'testflag6' }, flags)(Derived);
  const both = (values: { v?: string } = {}) => {
    const { v, w } = updateByFlags(new Derived(values));
    return [v, w];
  };
  t.same(both(), [null, null]);
  flags.parse(['--testflag6=a']);
  t.same(both(), ['a', 'a']);
  flags.parse(['--testflag6=b']);
  t.same(both({ v: 'v' }), ['v', 'b']);
});

t.test('links need a field and a flag that are there', async (t) => {
  const flags = new Flags();
  flags.define('there', { kind: 'string', default: '', help: '' });
  class Config extends recordClass({ there: text('', 'There.') }) {}
  t.throws(() => linkDataclassToFlags(['gone'], {}, flags)(Config), {
    code: 'ML_LINK_FIELD',
    message: 'gone is not a valid attribute of Config',
  });
  t.throws(() => linkDataclassToFlags([], { there: 'gone' }, flags)(Config), {
    code: 'ML_LINK_FLAG',
    message: 'gone is not defined in gflags',
  });
  flags.parse(['--there=x']);
  t.equal(updateByFlags(new (linkDataclassToFlags(['there'], {}, flags)(Config))()).there, 'x');
});

t.test('a command line is read as absl reads it', async (t) => {
  const flags = new Flags();
  extractFlags(Further, { flags });
  t.same(flags.parse(['a', '-int1', '5', '--ratio=1e-3', '--on=false', '--', '--int2=1']), ['a', '--int2=1']);
  t.match(
    [5, 0.001, false, 0],
    ['int1', 'ratio', 'on', 'int2'].map((name) => flags.get(name)),
  );
  t.same(flags.given(), ['int1', 'ratio', 'on']);
  flags.parse(['--on']);
  t.equal(flags.get('int1'), 0, 'a second command line takes the place of the first');
});

t.test('a command line that cannot be read is told with the help of all flags, and ends with 1', async (t) => {
  const flags = new Flags();
  extractFlags(Further, { flags });
  const cases: [string[], RegExp][] = [
    [['--int1=x'], /--int1: must be a whole number, found "x"/],
    [['--int1'], /--int1: it needs a value/],
    [['--ratio='], /--ratio: must be a number, found ""/],
    [['--on=maybe'], /--on: must be true or false/],
    [['--noon=1'], /--on: --noon takes no value/],
    [['--level=hihg'], /--level: must be one of low, high, found "hihg" \(did you mean high\?\)/],
    [['--itn1=3'], /--itn1: unknown command line flag \(did you mean int1\?\)/],
    [['--int1=1', '--constructor=3'], /--constructor: unknown/],
  ];
  for (const [args, expected] of cases) {
    let written = '';
    const { exitCode } = parseFlags(flags, args, (line) => {
      written += line;
    });
    t.equal(exitCode, 1);
    t.match(written, expected);
    t.match(written, /^FATAL Flags parsing error: /);
    t.match(written, '--ratio: float, default=0.5');
    t.ok(written.endsWith('Pass --helpshort or --helpfull to see help on flags.\n'));
  }
  t.notOk(flags.parsed, 'nothing of it is taken');
  t.same(parseFlags(flags, ['--int1=1', 'x'], t.fail), { rest: ['x'], exitCode: 0 });
  t.throws(() => flags.define('int1', { kind: 'int', default: 0, help: '' }), { code: 'ML_FLAG' });
});
