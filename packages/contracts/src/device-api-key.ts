/**
 * A device API key has the form `dsik_<id>_<secret>_<checksum>` (spec 000 §5.5). `id` is the id of its record, `secret` 256 random bits in base62,
 * and `checksum` the CRC-32 of everything before its underscore, in base62, six digits: a mistyped or cut key is refused without a look-up.
 */

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretDigits = 43;
const checksumDigits = 6;

/** Every key begins with this, even one that is sent without a scheme. */
export const deviceApiKeyPrefix = "dsik_";

const form = /^dsik_([1-9]\d{0,9})_[0-9A-Za-z]{43}_([0-9A-Za-z]{6})$/;

/** Formats the key of a record with the given secret, which is 32 random bytes. */
export function formatDeviceApiKey(id: number, secret: Uint8Array): string {
  const value = secret.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const body = `${deviceApiKeyPrefix}${id}_${base62(value, secretDigits)}`;
  return `${body}_${checksumOf(body)}`;
}

/** Answers the id of the record that a key claims; undefined for a text that cannot be a key. Only the digest proves the key. */
export function parseDeviceApiKey(text: string): number | undefined {
  const [, id, checksum] = form.exec(text) ?? [];
  if (id === undefined || checksumOf(text.slice(0, -1 - checksumDigits)) !== checksum) return undefined;
  return Number(id);
}

function checksumOf(body: string): string {
  return base62(BigInt(crc32(body)), checksumDigits);
}

function base62(value: bigint, width: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text.padStart(width, "0");
}

/** Computes the CRC-32 of zlib, for ASCII. */
function crc32(text: string): number {
  let crc = 0xffff_ffff;
  for (let at = 0; at < text.length; at++) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
  }
  return ~crc >>> 0;
}
