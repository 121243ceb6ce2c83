import { decode, encode } from "cborg";

export const cborType = "application/cbor";

/**
 * A JSON text as CBOR: the same object tree with the same members, `_links` too (contract device.md §1.1). From the text and not from the
 * object it was made of, so that a cached document and what JSON leaves out are the same in both.
 */
export function cborOf(json: string): Buffer {
  const bytes = encode(JSON.parse(json));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Only what JSON could say too: text keys, no tags, no numbers beyond a double. Throws for anything else, however it is broken. */
export function readCbor(bytes: Buffer): unknown {
  // maps as Map: as members of an object one named __proto__ would not be kept, and nobody would know
  return plain(decode(bytes, { allowBigInt: false, allowInfinity: false, allowNaN: false, coerceUndefinedToNull: true, useMaps: true }));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!(value instanceof Map)) return value;
  const object: Record<string, unknown> = {};
  for (const [key, member] of value) {
    if (typeof key !== "string") throw new Error("a key that is no text");
    // as JSON.parse does
    if (key === "__proto__") Object.defineProperty(object, key, { value: plain(member), enumerable: true });
    else object[key] = plain(member);
  }
  return object;
}
