/** @file A signal that stands for two. */

/** A signal that is aborted with either of two. */
export function eitherOf(
  one: AbortSignal,
  other: AbortSignal | undefined,
): { readonly signal: AbortSignal; readonly unlisten: () => void } {
  const both = new AbortController();
  const abort = () => both.abort();
  const signals = [one, ...(other === undefined ? [] : [other])];
  for (const signal of signals) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  }
  const unlisten = () => {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  };
  return { signal: both.signal, unlisten };
}
