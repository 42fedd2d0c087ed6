/**
 * @file Moves works of the device ahead of works of the host that they do not depend on.
 *
 * A launch costs the host a moment and the device some time: what can start while the host looks ids up or steps rows
 * should be on its way before. Works of one side keep their order.
 */
import type { Work } from './step-plan.js';

/**
 * `works` in an order of the same effect. `tied` says of other reasons than blocks why a work must stay behind another.
 */
export function hoistLaunches<W extends Work>(works: readonly W[], tied: (first: W, then: W) => boolean): W[] {
  const order: W[] = [];
  for (const work of works) {
    let at = order.length;
    if (work.side === 'device') {
      while (
        at > 0 &&
        order[at - 1]!.side === 'host' &&
        !conflict(order[at - 1]!, work) &&
        !tied(order[at - 1]!, work)
      ) {
        at--;
      }
    }
    order.splice(at, 0, work);
  }
  return order;
}

/** Whether one of them writes what the other touches. */
function conflict(a: Work, b: Work): boolean {
  return a.accesses.some((x) => b.accesses.some((y) => x.block === y.block && (x.writes || y.writes)));
}
