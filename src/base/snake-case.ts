/** @file Names of classes as names of scopes (utils.to_snake_case). */

/** `DenseLayer` as `dense_layer`; a name that would start with an underscore gets `private` before it. */
export function toSnakeCase(name: string): string {
  const snake = name
    .replace(/(.)([A-Z][a-z0-9]+)/g, '$1_$2')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
  return snake.startsWith('_') ? `private${snake}` : snake;
}
