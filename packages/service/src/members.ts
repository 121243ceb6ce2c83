const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/**
 * Whether a JSON text in UTF-8 separates more than `most` members and elements, at all levels together. Looks at bytes only and stops where it knows: a text of
 * a mebibyte with tens of thousands of names costs ten times as much to parse. Broken texts give any answer; the parser refuses them.
 */
export function jsonHasMore(bytes: Uint8Array, most: number): boolean {
  let left = most;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inText) {
      if (byte === backslash) at++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === comma && --left < 0) return true;
  }
  return false;
}

/** Bytes of the number that follows a CBOR head, by its additional information; what is not listed has none (RFC 8949 §3). */
const numberBytes: Readonly<Record<number, number>> = { 24: 1, 25: 2, 26: 4, 27: 8 };

/**
 * Data items of a CBOR document: arrays and maps, and what stands in them. As `jsonHasMore`, the count ends as soon as one of the two is more than
 * `most`.
 */
export function cborItems(bytes: Uint8Array, most: number): { containers: number; others: number } {
  const found = { containers: 0, others: 0 };
  for (let at = 0; at < bytes.length && found.containers <= most && found.others <= most; ) {
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
  if (more === 0) return short < 24 ? short : 0; // of an indefinite length: its pieces follow as items
  let length = 0;
  for (let n = 1; n <= more; n++) length = length * 256 + (bytes[at + n] ?? 0);
  return length;
}
