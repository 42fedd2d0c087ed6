/**
 * @file State that a chief and its workers share: named vectors of booleans and named strings.
 *
 * What upstream keeps in variables on the chief. Here it is in one process; the cluster brings one that is remote.
 */
export interface ControlKv {
  /** A copy of the vector; it is made, all false, with the length asked for first. */
  getBools(name: string, length: number): Promise<readonly boolean[]>;
  setBool(name: string, index: number, value: boolean): Promise<void>;
  /** Empty where nothing was set. */
  getString(name: string): Promise<string>;
  setString(name: string, value: string): Promise<void>;
  /** Sets an element if it is `expected` still; whether it did. */
  compareAndSet(name: string, index: number, expected: boolean, value: boolean): Promise<boolean>;
}

/** Keys and values that the workers of one process share. */
export class LocalControlKv implements ControlKv {
  readonly #bools = new Map<string, boolean[]>();
  readonly #strings = new Map<string, string>();

  async getBools(name: string, length: number): Promise<readonly boolean[]> {
    return this.#vector(name, length).slice(0, length);
  }

  async setBool(name: string, index: number, value: boolean): Promise<void> {
    this.#vector(name, index + 1)[index] = value;
  }

  async getString(name: string): Promise<string> {
    return this.#strings.get(name) ?? '';
  }

  async setString(name: string, value: string): Promise<void> {
    this.#strings.set(name, value);
  }

  async compareAndSet(name: string, index: number, expected: boolean, value: boolean): Promise<boolean> {
    const vector = this.#vector(name, index + 1);
    if (vector[index] !== expected) return false;
    vector[index] = value;
    return true;
  }

  #vector(name: string, length: number): boolean[] {
    const vector = this.#bools.get(name) ?? [];
    while (vector.length < length) vector.push(false);
    this.#bools.set(name, vector);
    return vector;
  }
}
