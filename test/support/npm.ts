/** @file npm, for tests that install or pack something. */

/** The npm that runs this process, or the one on the PATH: the program and its first arguments. */
export function npmCommand(): [string, ...string[]] {
  const path = process.env.npm_execpath;
  if (path?.endsWith('npm-cli.js')) return [process.execPath, path];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
}
