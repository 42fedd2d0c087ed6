/** Signals to real processes: what they print, and whose handlers are called. */
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { hasSigusr1, sigusr1Trouble } from '../../src/base/sigusr1.js';
import { Graph } from '../../src/graph/graph.js';
import { addDumpHandler, describeProcess } from '../../src/train/signal-utils.js';
import { runCli } from '../cli/run-cli.js';
import { missing } from '../requirement.js';
import { runNode } from '../run-node.js';
import { openSession } from '../runtime/with-session.js';

const PROGRAM = fileURLToPath(new URL('./signal-program.js', import.meta.url));
/** Node.js knows it from 22.14 on. */
const FLAG = '--disable-sigusr1';
const DUMP = /^SIGUSR[12]: process \d+, [\dTZ:.-]+\nmain thread\n +at [\s\S]*? waits for /m;

/** Runs the program, sends it the signal it took once it trains, and ends it when it has printed `dumps` dumps. */
async function signalled(args: readonly string[], dumps: number): Promise<string> {
  let sent = false;
  const { err } = await runNode(args, {
    cwd: t.testdirName,
    during: (child, printed) => {
      if (!sent && /^training$/m.test(printed)) {
        sent = true;
        child.kill(/^took (SIGUSR[12])$/m.exec(printed)![1] as NodeJS.Signals);
      }
      if (printed.split('pool 1').length > dumps) child.kill('SIGKILL');
    },
  });
  return err;
}

t.before(() => t.testdir());

t.test('SignalUtilsTest.testBasic: two handlers are both called, and the one before them too', async (t) => {
  const err = await signalled([PROGRAM, '2'], 2);
  t.match(err, /^took SIGUSR2\ntook SIGUSR2\n/);
  t.equal(err.split('the handler before').length - 1, 1);
  t.equal(err.match(new RegExp(DUMP, 'gm'))?.length, 2);
  t.match(err, /threads, watched for 100 ms\n {4}main +\S.*\n {4}pool 0 +\S.*%.*\n {4}pool 1 +\S.*%/);
  t.match(err, /forward and backward \d+%/);
});

t.test('SIGUSR1 is for processes whose Node.js leaves it alone', async (t) => {
  const status = (mask: string) => `Name:\tnode\nSigBlk:\t${mask}\nSigIgn:\t0000000001001000\n`;
  const free = status('0000000000000000');
  t.match(sigusr1Trouble([], '', free), /for its inspector/);
  t.equal(sigusr1Trouble([FLAG], '', free), undefined);
  t.equal(sigusr1Trouble([], `--no-warnings ${FLAG}`, free), undefined);
  t.match(sigusr1Trouble([FLAG], '', status('0000000000000200')), /never lets it through/);
  t.match(sigusr1Trouble([FLAG], '', ''), /never lets it through/, 'nobody knows: it is not promised');
  t.equal(hasSigusr1(), false, 'tests run without the flag');
  t.throws(() => addDumpHandler({ signal: 'SIGUSR1' }), {
    code: 'ML_SIGNAL',
    message: /for its inspector/,
    hint: /SIGUSR2/,
  });
});

const hasFlag = process.allowedNodeEnvironmentFlags.has(FLAG);
const skip = hasFlag ? false : missing('sigusr', `this Node.js has no ${FLAG}`);

t.test('with that flag a process takes the signal that comes, or says that it never does', { skip }, async (t) => {
  const err = await signalled([FLAG, PROGRAM, '1'], 1);
  const [, took] = /^took (SIGUSR[12])\n/.exec(err)!;
  t.match(err, /the handler before/);
  t.match(err, DUMP);
  // Asked for by name, SIGUSR1 comes or is refused: a handler that is never called would be worse.
  const asked = await runNode([FLAG, PROGRAM, '1', 'SIGUSR1'], {
    cwd: t.testdir(),
    during: (child, printed) => {
      if (/^training$/m.test(printed)) child.kill('SIGKILL');
    },
  });
  if (took === 'SIGUSR1') t.match(asked.err, /^training$/m);
  else t.match(asked.err, /ML_SIGNAL|signal SIGUSR1 cannot be handled: Node\.js blocks it/);
});

t.test('train shows what its threads do, and goes on', async (t) => {
  let [sent, stopped] = [false, false];
  const { code, out, err } = await runCli(['train', '--threads', '2', '--steps', '1000000000'], {
    cwd: t.testdir(),
    during: (child, printed) => {
      if (!sent && printed.includes('steps/s')) {
        sent = true;
        child.kill('SIGUSR2');
      }
      if (!stopped && printed.includes('data reader')) {
        stopped = true;
        child.kill('SIGINT');
      }
    },
  });
  t.equal(code, 0);
  t.match(err, /^SIGUSR2: process \d+/m);
  for (const thread of ['main', 'pool 0', 'pool 1', 'data reader']) t.match(err, new RegExp(`^ +${thread} +\\S`, 'm'));
  t.match(out, /stopped early at step \d+/);
});

t.test('a handler that is removed is not called, and others stay', async (t) => {
  const other = () => undefined;
  process.on('SIGUSR2', other);
  const before = process.listenerCount('SIGUSR2');
  const remove = addDumpHandler();
  t.equal(process.listenerCount('SIGUSR2'), before + 1);
  remove();
  t.equal(process.listenerCount('SIGUSR2'), before);
  process.off('SIGUSR2', other);
});

t.test('sessions that are closed, or have no rings, are not shown', async (t) => {
  t.match(await describeProcess('now', 1), /no session that is open has trace rings/);
  const session = await openSession(new Graph(), { threads: 1, traceEvents: 64 });
  for (const { ring } of session.trace.threads) ring.on = false;
  const text = await describeProcess('now', 1);
  t.match(text, /threads, watched for 1 ms\n {4}main .*nothing ended meanwhile/);
  t.ok(
    session.trace.threads.every(({ ring }) => !ring.on),
    'rings are as they were',
  );
  await session.close();
  t.match(await describeProcess('now', 1), /no session that is open/);
});
