/** @file Work on many items, a few at a time. */

/** `work` of each item, at most `count` at a time. */
export async function inParallel(items, count, work) {
  const results = new Array(items.length);
  let next = 0;
  const runner = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]);
    }
  };
  await Promise.all(Array.from({ length: count }, runner));
  return results;
}
