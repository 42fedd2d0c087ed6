/** @file What is done to a row on its way. */
import type { DataRow } from '../files/place.js';

/** The row as it goes on, or undefined where it is left out. */
export type Transform = (row: DataRow) => DataRow | undefined;
