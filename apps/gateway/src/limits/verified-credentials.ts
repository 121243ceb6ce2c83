/** A credential may be at this many places; if all of them are taken, one is evicted. */
const probes = 8;
const minSize = 4_096;
/** It takes 32 MB, for as many devices as a gateway knows. */
const maxSize = 4_194_304;

/**
 * Remembers verified credentials, as 53 bits of their salted digests: this is enough to let one be tried, which is not to admit it. It grows with the
 * fleet to a fixed size and holds nothing that could be read back.
 */
export class VerifiedCredentials {
  #keys = new Float64Array(minSize);
  #size = 0;

  has(digest: string): boolean {
    return this.#placeOf(keyOf(digest)) !== undefined;
  }

  add(digest: string): void {
    const key = keyOf(digest);
    if (this.#placeOf(key) !== undefined) return;
    if (this.#size * 2 > this.#keys.length && this.#keys.length < maxSize) this.#grow();
    if (this.#put(key)) this.#size += 1;
  }

  delete(digest: string): void {
    const at = this.#placeOf(keyOf(digest));
    if (at === undefined) return;
    this.#keys[at] = 0;
    this.#size -= 1;
  }

  get size(): number {
    return this.#size;
  }

  #placeOf(key: number): number | undefined {
    for (let i = 0; i < probes; i++) {
      const at = (key + i) & (this.#keys.length - 1);
      if (this.#keys[at] === key) return at;
    }
    return undefined;
  }

  /** Returns false if another one was evicted. */
  #put(key: number): boolean {
    const mask = this.#keys.length - 1;
    for (let i = 0; i < probes; i++) {
      const at = (key + i) & mask;
      if (this.#keys[at] !== 0) continue;
      this.#keys[at] = key;
      return true;
    }
    this.#keys[(key + (key % probes)) & mask] = key;
    return false;
  }

  #grow(): void {
    const former = this.#keys;
    this.#keys = new Float64Array(former.length * 2);
    this.#size = 0;
    for (const key of former) if (key !== 0 && this.#put(key)) this.#size += 1;
  }
}

/** Digests have one character a byte; 0 is an empty place. */
function keyOf(digest: string): number {
  let key = 0;
  for (let i = 0; i < 6; i++) key = key * 256 + digest.charCodeAt(i);
  return key * 32 + (digest.charCodeAt(6) & 31) || 1;
}
