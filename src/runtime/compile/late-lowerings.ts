/**
 * @file Lowerings of rooms above that are loaded with the first session: an op is defined without the code that
 * compiles it, so that importing the package does not load the half of it that only a running step needs.
 */
const waiting: (() => Promise<unknown>)[] = [];

/** Says what registers lowerings of ops; `loadLowerings` calls it once. */
export function lowerLater(load: () => Promise<unknown>): void {
  waiting.push(load);
}

/** Loads what was announced so far: before graphs that have such ops are compiled. */
export async function loadLowerings(): Promise<void> {
  await Promise.all(waiting.splice(0).map((load) => load()));
}
