/**
 * @file What a test needs of the machine beyond Node, and what happens where it is missing.
 *
 * A test that cannot run is skipped with a reason that tap counts and prints. Where MONOLITH_TEST_REQUIRE names what it
 * lacks, it fails instead: a machine that has lost its compiler must not pass for one where all is well.
 */

/** Names for MONOLITH_TEST_REQUIRE, which takes several of them separated by commas; docs/testing.md lists them too. */
export const REQUIREMENTS = {
  cuda: 'the addon and the simulated driver: a C++ compiler, make and Python build them',
  nvcc: 'nvcc and ptxas on the PATH, of the release that cuda/ptx was made with',
  ptxas: 'ptxas on the PATH',
  oracle: 'MONOLITH_ORACLE_PYTHON, a Python with TensorFlow',
  onnx: 'onnxruntime-web from the npm registry',
  grpc: '@grpc/grpc-js from the npm registry',
  npm: 'npm beside node, or npm_execpath',
  registry: 'the npm registry, for what the package depends on',
  nodes: 'Node.js 20, 22, 24 and 26 from the npm registry',
  linux: '/proc and /dev/full',
  unprivileged: 'a user who is not root',
  root: 'root on Linux, with setpriv, prlimit and a mount of tmpfs',
  sigusr: 'a Node.js whose inspector can be told to leave SIGUSR1 alone',
  browser: 'chromium or google-chrome on the PATH, for pages of reports and traces',
  'relaxed-simd': 'an engine with relaxed SIMD',
} as const;

export type Requirement = keyof typeof REQUIREMENTS;

const VARIABLE = 'MONOLITH_TEST_REQUIRE';

function required(text = process.env[VARIABLE] ?? ''): ReadonlySet<string> {
  const names = text.split(',').filter((name) => name !== '');
  const unknown = names.filter((name) => !Object.hasOwn(REQUIREMENTS, name));
  if (unknown.length === 0) return new Set(names);
  throw new Error(`${VARIABLE} names ${unknown.join(', ')}; there are ${Object.keys(REQUIREMENTS).join(', ')}`);
}

/**
 * The reason to skip with, for `{ skip }` or `t.plan(0, …)`; printed as well. Throws where the requirement must be met.
 *
 * ```ts
 * t.test('name', { skip: existsSync('/dev/full') ? false : missing('linux', 'this system has no /dev/full') }, …);
 * ```
 */
export function missing(requirement: Requirement, reason: string): string {
  const text = `${requirement}: ${reason}`;
  if (required().has(requirement)) throw new Error(`${VARIABLE} asks for what is missing, ${text}`);
  console.error(`SKIPPED, ${text}`);
  return text;
}
