const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openList = 0x5b;
const openMap = 0x7b;
/**
 * A JSON text may open so many more lists and maps than twice its members, because empty or nested ones need no separators; no body of ours has
 * more.
 */
const deepest = 64;

/**
 * Answers what a JSON text in UTF-8 has too many of: more than `max` members and elements at all levels together, or more than twice as many lists
 * and maps; undefined if neither. It reads only bytes and stops as soon as the answer is certain: a text of a mebibyte with tens of thousands of
 * names costs ten times as much to parse. The answer for broken texts does not matter, because the parser refuses them.
 */
export function jsonExcess(bytes: Uint8Array, max: number): "members" | "containers" | undefined {
  let separators = max;
  let containers = 2 * max + deepest;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inText) {
      if (byte === backslash) at++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === comma) {
      if (--separators < 0) return "members";
    } else if ((byte === openList || byte === openMap) && --containers < 0) return "containers";
  }
  return undefined;
}

/** The bytes of the number that follows a CBOR head, by its additional information; other values have none (RFC 8949 §3). */
const numberBytes: Readonly<Record<number, number>> = { 24: 1, 25: 2, 26: 4, 27: 8 };

/**
 * Counts the data items of a CBOR document: arrays and maps, and their content. As in `jsonExcess`, the count stops as soon as one of the two
 * exceeds `max`.
 */
export function cborItems(bytes: Uint8Array, max: number): { containers: number; others: number } {
  const found = { containers: 0, others: 0 };
  for (let at = 0; at < bytes.length && found.containers <= max && found.others <= max; ) {
    const head = bytes[at] ?? 0;
    const major = head >> 5;
    if (major === 4 || major === 5) found.containers += 1;
    else found.others += 1;
    const more = numberBytes[head & 0x1f] ?? 0;
    // 2 and 3 are byte strings and texts, whose bytes are no items
    at += 1 + more + (major === 2 || major === 3 ? textLength(bytes, at, more) : 0);
  }
  return found;
}

function textLength(bytes: Uint8Array, at: number, more: number): number {
  const short = (bytes[at] ?? 0) & 0x1f;
  if (more === 0) return short < 24 ? short : 0; // with an indefinite length its pieces follow as items
  let length = 0;
  for (let n = 1; n <= more; n++) length = length * 256 + (bytes[at + n] ?? 0);
  return length;
}
