import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { readContentDigest } from "./content-digest.ts";

const digest = (algorithm: string): Buffer => createHash(algorithm).update("x").digest();
const [sha256, sha512] = [digest("sha256"), digest("sha512")];
const in256 = `sha-256=:${sha256.toString("base64")}:`;
const in512 = `sha-512=:${sha512.toString("base64")}:`;

it.each([
  ["nothing", undefined, undefined],
  ["one that is known", in256, { algorithm: "sha256", value: sha256 }],
  ["the stronger of two", `${in256}, ${in512}`, { algorithm: "sha512", value: sha512 }],
  ["a known one beside others", `md5=:AAAA:,${in256}`, { algorithm: "sha256", value: sha256 }],
  ["another case of letters", in256.replace("sha", "SHA"), { algorithm: "sha256", value: sha256 }],
  ["only unknown ones", "md5=:AAAA:", undefined],
])("reads %s", (_what, header, expected) => {
  expect(readContentDigest(header)).toEqual(expected);
});

it.each(["sha-256", "sha-256=", "sha-256=AAAA", "sha-256=:AAAA:", "sha-256=:*:", `sha-256=${sha256.toString("base64")}`])(
  "refuses %s",
  (header) => {
    expect(() => readContentDigest(header)).toThrow(expect.objectContaining({ code: "constraintViolation" }));
  },
);
