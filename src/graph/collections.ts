/** @file Collections of a graph with upstream's rule for what is worth keeping (utils.add_to_collections). */
import { toList } from '../base/lists.js';
import type { Graph } from './graph.js';

/**
 * Adds `value` to each of the collections, once each. Numbers, strings and booleans always; else null and what is empty
 * is left out. Whether it was added.
 */
export function addToCollections(graph: Graph, names: string | readonly string[], value: unknown): boolean {
  if (isEmpty(value)) return false;
  for (const name of new Set(toList(names))) graph.addToCollection(name, value);
  return true;
}

/** What a collection holds, in the order it was added; null when there is nothing. */
export function getCollection<T = unknown>(graph: Graph, name: string): readonly T[] | null {
  const collection = graph.getCollection<T>(name);
  return collection.length === 0 ? null : collection;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.length === 0;
  if (value instanceof Map || value instanceof Set) return value.size === 0;
  return Object.getPrototypeOf(value) === Object.prototype && Object.keys(value).length === 0;
}
