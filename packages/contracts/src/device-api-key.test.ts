import { randomBytes, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import { formatDeviceApiKey, parseDeviceApiKey } from "./device-api-key.ts";

const secret = Uint8Array.from({ length: 32 }, (_, n) => n * 7);
const key = formatDeviceApiKey(11, secret);

test("a key contains the id of its record, and its checksum is the CRC-32 of the rest", () => {
  expect(key).toMatch(/^dsik_11_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const value = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
  expect(value).toBe(crc32(key.slice(0, -7)));
});

test("every key can be read back, whatever its secret", () => {
  for (let n = 0; n < 200; n++) {
    const id = randomInt(1, 2 ** 31);
    expect(parseDeviceApiKey(formatDeviceApiKey(id, randomBytes(32)))).toBe(id);
  }
  for (const byte of [0, 255]) expect(parseDeviceApiKey(formatDeviceApiKey(11, new Uint8Array(32).fill(byte)))).toBe(11);
});

test("different secrets give different keys", () => {
  const first = Uint8Array.from(secret, (byte, n) => (n === 0 ? byte + 1 : byte));
  const last = Uint8Array.from(secret, (byte, n) => (n === 31 ? byte ^ 1 : byte));
  expect(new Set([first, last, secret].map((bytes) => formatDeviceApiKey(11, bytes))).size).toBe(3);
});

test("a key with one changed, added or missing character is refused", () => {
  for (let at = 0; at < key.length; at++) {
    const other = key[at] === "a" ? "b" : "a";
    expect(parseDeviceApiKey(key.slice(0, at) + other + key.slice(at + 1)), String(at)).toBeUndefined();
    expect(parseDeviceApiKey(key.slice(0, at) + key.slice(at + 1)), String(at)).toBeUndefined();
    expect(parseDeviceApiKey(`${key.slice(0, at)}0${key.slice(at)}`), String(at)).toBeUndefined();
  }
});

test.each(["", "dsik_", "dsik_1_abc_def", `${key} `, ` ${key}`, `${key}\n`, key.toUpperCase(), `x${key}`, key.repeat(50)])(
  "%j is no key",
  (text) => {
    expect(parseDeviceApiKey(text)).toBeUndefined();
  },
);
