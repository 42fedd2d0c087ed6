import t from 'tap';
import { visible, visibleLines } from '../../src/base/visible.js';

t.test('what a terminal would obey is shown, and letters of any script stay', async (t) => {
  t.equal(visible('a\x1b[2Jb\r\n\tc\0'), 'a\\u001b[2Jb\\u000d\\u000a\\u0009c\\u0000');
  t.equal(visible('\x9b31m\x7f\u2028\u202e\u2066\ud800'), '\\u009b31m\\u007f\\u2028\\u202e\\u2066\\ud800');
  t.equal(visible('größe 用户 пол 😀 é'), 'größe 用户 пол 😀 é');
  t.equal(
    JSON.parse(visible(JSON.stringify('\x9b\u202e"\\\x1b'))),
    '\x9b\u202e"\\\x1b',
    'JSON means the same after it',
  );
});

t.test('lines after the first are set in', async (t) => {
  t.equal(visibleLines('first\nhint: \x1b[0m'), 'first\n  hint: \\u001b[0m');
});
