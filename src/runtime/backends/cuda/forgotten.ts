/**
 * @file Handles of objects that nobody holds any more: they are given back when the collector has taken the object.
 *
 * That comes late and waits for the device: it is for what was forgotten, not in place of `free` and `destroy`.
 */
const registry = new FinalizationRegistry<() => void>((giveBack) => {
  try {
    giveBack();
  } catch {
    // Nobody is left to tell, and after a fault the driver refuses every call.
  }
});

/** Calls `giveBack`, which must not hold `owner`, once `owner` is gone, unless `givenBack` comes first. */
export function giveBackWhenForgotten(owner: object, giveBack: () => void): void {
  registry.register(owner, giveBack, owner);
}

/** The owner has given it back itself. */
export function givenBack(owner: object): void {
  registry.unregister(owner);
}
