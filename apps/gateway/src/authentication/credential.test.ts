import { expect, test } from "vitest";
import { parseCredential } from "./credential.ts";

test.each([
  ["Bearer a.b.c", "Bearer", "a.b.c"],
  ["bearer a.b.c", "Bearer", "a.b.c"],
  ["basic YQ==", "Basic", "YQ=="],
  ["dsik_1_x_y", "ApiKey", "dsik_1_x_y"],
  ["Digest x", undefined, "x"],
])("%s", (header, scheme, value) => expect(parseCredential(header)).toEqual({ scheme, value }));

test.each([undefined, "", "Bearer", "Bearer ", " x"])("%j is no credential", (header) => expect(parseCredential(header)).toBeUndefined());

test("over-long credentials count as none: 4096 characters, and 8192 for access tokens, which name many roles", () => {
  const ofLength = (scheme: string, length: number) => `${scheme} ${"x".repeat(length - scheme.length - 1)}`;
  expect(parseCredential(ofLength("Basic", 4_096))).toBeDefined();
  expect(parseCredential(ofLength("Basic", 4_097))).toBeUndefined();
  expect(parseCredential(ofLength("Bearer", 8_192))).toBeDefined();
  expect(parseCredential(ofLength("Bearer", 8_193))).toBeUndefined();
});
