import { randomBytes } from "node:crypto";

/** Makes a UUID of version 7 (RFC 9562 §5.7): its first 48 bits are the time, so that ids of all services sort by time; the rest is `random`. */
export function entryId(atMs: number, random: Uint8Array = randomBytes(16)): string {
  const bytes = Buffer.from(random);
  bytes.writeUIntBE(atMs, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * Makes a text that PostgreSQL can store, also in JSON, and that a terminal can show: no control characters, no unpaired surrogates, and not longer
 * than this.
 */
export function plainText(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength)
    .replace(/\p{Cc}/gu, "?")
    .toWellFormed();
}
