/** @file Splits the time of nested spans of one thread, so that every moment counts once. */

export interface Interval {
  readonly startUs: number;
  readonly durationUs: number;
}

/** By start; of two that start together the longer is the one around the other. */
export function compareNesting(a: Interval, b: Interval): number {
  return a.startUs - b.startUs || b.durationUs - a.durationUs;
}

/**
 * The time each span has for itself: its duration without the spans inside it. `spans` is in the order of
 * `compareNesting`.
 *
 * Every moment goes to the span that started last of those running, so the results add up to the time that any span
 * covers, also where clock rounding makes neighbours overlap a little.
 */
export function selfTimesUs(spans: readonly Interval[]): Float64Array {
  const self = Float64Array.from(spans, (span) => span.durationUs);
  const running: number[] = [];
  const endOf = (index: number) => spans[index]!.startUs + spans[index]!.durationUs;
  for (const [index, span] of spans.entries()) {
    while (running.length > 0 && endOf(running.at(-1)!) <= span.startUs) running.pop();
    const endUs = endOf(index);
    let fromUs = span.startUs;
    // Innermost first: what reaches past the end of one belongs to the next around it.
    for (let depth = running.length - 1; depth >= 0 && fromUs < endUs; depth--) {
      const outer = running[depth]!;
      const untilUs = Math.min(endUs, endOf(outer));
      if (untilUs <= fromUs) continue;
      self[outer]! -= untilUs - fromUs;
      fromUs = untilUs;
    }
    running.push(index);
  }
  return self;
}
