/** @file Names in camelCase as names in snake case. */

/** `numPs` as `num_ps`: a field as a flag or a key of JSON. */
export function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `DenseLayer` as `dense_layer`; a name that would start with an underscore gets `private` before it. */
export function toSnakeCase(name: string): string {
  const snake = name
    .replace(/(.)([A-Z][a-z0-9]+)/g, '$1_$2')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
  return snake.startsWith('_') ? `private${snake}` : snake;
}
