/** @file Orders of lazy streams that tests go through: the two extremes, and seeds of drawn ones. */

/** How many there are; MONOLITH_TEST_STREAM_ORDERS asks for more. */
const COUNT = Number(process.env.MONOLITH_TEST_STREAM_ORDERS ?? 5);

export const STREAM_ORDERS: readonly number[] = Array.from({ length: COUNT }, (_, order) => order);
