import { decode, encode } from "cborg";

export const cborType = "application/cbor";

/**
 * Converts a JSON text to CBOR: the same object tree with the same members, `_links` too (contract device.md §1.1). It starts from the text and not
 * from the object, so that a cached document, and members that JSON leaves out, are the same in both.
 */
export function cborOf(json: string): Buffer {
  const bytes = encode(JSON.parse(json));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads CBOR that JSON could express: text keys, no tags, no numbers beyond a double. Throws for anything else, however it is broken. */
export function readCbor(bytes: Buffer): unknown {
  // maps are read as Map, because an object would silently drop a member named __proto__
  return plain(decode(bytes, { allowBigInt: false, allowInfinity: false, allowNaN: false, coerceUndefinedToNull: true, useMaps: true }));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!(value instanceof Map)) return value;
  const object: Record<string, unknown> = {};
  for (const [key, member] of value) {
    if (typeof key !== "string") throw new Error("a key that is no text");
    // JSON.parse does the same
    if (key === "__proto__") Object.defineProperty(object, key, { value: plain(member), enumerable: true });
    else object[key] = plain(member);
  }
  return object;
}
