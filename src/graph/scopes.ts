/** @file Scopes of names, devices and control edges: what is open while a function runs. */

/** Runs `body` with one more scope open. */
export function within<Scope, T>(scopes: Scope[], scope: Scope, body: () => T): T {
  scopes.push(scope);
  try {
    return body();
  } finally {
    scopes.pop();
  }
}

/** Runs `body` as if no scope were open. */
export function without<Scope, T>(scopes: Scope[], body: () => T): T {
  const open = scopes.splice(0);
  try {
    return body();
  } finally {
    scopes.push(...open);
  }
}
