import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createSecretBox, digest } from "./secrets.ts";

const key = randomBytes(32).toString("base64");

test("a sealed text can be opened, and sealing the same text twice gives different results", () => {
  const box = createSecretBox(key);
  const sealed = box.seal("täoken-1");
  expect(box.open(sealed)).toBe("täoken-1");
  expect(box.open(box.seal(""))).toBe("");
  expect(box.seal("täoken-1").equals(sealed)).toBe(false);
  expect(sealed.includes("oken-1")).toBe(false);
});

test("a changed byte, another key and foreign bytes are refused", () => {
  const box = createSecretBox(key);
  const sealed = box.seal("token");
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => box.open(changed)).toThrow();
  }
  expect(() => createSecretBox(randomBytes(32).toString("base64")).open(sealed)).toThrow("another HARRIER_SECRET_KEY");
  expect(() => box.open(Buffer.from("token"))).toThrow("not a sealed value");
});

test("a key of the wrong length is refused", () => {
  expect(() => createSecretBox("c2hvcnQ=")).toThrow("32 bytes");
});

test("digest is SHA-256", () => {
  expect(digest("abc").toString("hex")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
