import { randomBytes } from "node:crypto";

/** A key may be at this many places. If all of them are taken in this window, the least used one is evicted. */
const probes = 8;

/**
 * Counts requests by key in windows that begin with the first one, in arrays of a fixed size: neither a request nor a flood of new keys allocates
 * anything. When there are more keys in a window than places, small counts get lost; keys are distinguished by 53 bits.
 */
export class RateCounters {
  readonly #mask: number;
  readonly #windowMs: number;
  readonly #keys: Float64Array;
  readonly #begins: Float64Array;
  readonly #counts: Uint32Array;
  // Keys come from outside: without knowing these values an attacker cannot choose their places.
  readonly #seeds = new Int32Array(new Uint8Array(randomBytes(8)).buffer);

  /** `size` is the number of places for keys, a power of two; each takes 20 bytes. */
  constructor({ size = 65_536, windowMs = 1_000 }: { size?: number; windowMs?: number } = {}) {
    this.#windowMs = windowMs;
    this.#mask = size - 1;
    this.#keys = new Float64Array(size);
    this.#begins = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
    this.#counts = new Uint32Array(size);
  }

  /** Maps a text within a group of keys to 53 bits. */
  keyOf(text: string, group: number): number {
    let a = (this.#seeds[0] as number) ^ group;
    let b = (this.#seeds[1] as number) + group;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      a = Math.imul(a ^ code, 0x01000193);
      a ^= a >>> 15;
      b = Math.imul(b + code, 0x85ebca6b);
      b ^= b >>> 13;
    }
    a = Math.imul(a ^ (b >>> 16), 0xc2b2ae35);
    b = Math.imul(b ^ (a >>> 15), 0x27d4eb2f);
    return (a >>> 0) * 0x200000 + ((b ^ (b >>> 16)) >>> 11);
  }

  /** Counts one request; false if the key has reached its limit in this window. */
  take(key: number, limit: number, now: number): boolean {
    const at = this.#placeOf(key, now);
    const count = this.#counts[at] as number;
    if (count >= limit) return false;
    this.#counts[at] = count + 1;
    return true;
  }

  /** Counts many at once, bytes for instance; if they would exceed the limit it returns false and counts nothing. */
  takeMany({ key, limit, now, amount }: { key: number; limit: number; now: number; amount: number }): boolean {
    const at = this.#placeOf(key, now);
    const count = this.#counts[at] as number;
    if (count + amount > limit) return false;
    this.#counts[at] = count + amount;
    return true;
  }

  /** Finds the place of the key in this window; a new key begins in the least used place that it may have. */
  #placeOf(key: number, now: number): number {
    let chosen = 0;
    let min = Number.POSITIVE_INFINITY;
    for (let i = 0; i < probes; i++) {
      const at = (key + i) & this.#mask;
      const over = this.#isOver(at, now);
      if (this.#keys[at] === key && !over) return at;
      const used = over ? 0 : (this.#counts[at] as number);
      if (used < min) {
        min = used;
        chosen = at;
      }
    }
    this.#keys[chosen] = key;
    this.#begins[chosen] = now;
    this.#counts[chosen] = 0;
    return chosen;
  }

  /** Returns the milliseconds until the key may have a request again; 0 if it may now. */
  waitMs(key: number, limit: number, now: number): number {
    for (let i = 0; i < probes; i++) {
      const at = (key + i) & this.#mask;
      if (this.#keys[at] !== key || this.#isOver(at, now)) continue;
      return (this.#counts[at] as number) < limit ? 0 : (this.#begins[at] as number) + this.#windowMs - now;
    }
    return 0;
  }

  /** Subtracts one request that was counted and then not served. */
  release(key: number, now: number): void {
    for (let i = 0; i < probes; i++) {
      const at = (key + i) & this.#mask;
      if (this.#keys[at] !== key || this.#isOver(at, now) || this.#counts[at] === 0) continue;
      this.#counts[at] = (this.#counts[at] as number) - 1;
      return;
    }
  }

  /** Returns true also if the clock was set back. */
  #isOver(at: number, now: number): boolean {
    const age = now - (this.#begins[at] as number);
    return age >= this.#windowMs || age < 0;
  }
}
