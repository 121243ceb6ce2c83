import { createSigner } from "@harrier/db";
import { expect, test } from "vitest";
import { type Anchor, counts, faultOf, parseAnchorKeys, signAnchor } from "./anchor.ts";

const signer = createSigner(Buffer.alloc(32, 1).toString("base64"));
const other = createSigner(Buffer.alloc(32, 2).toString("base64"));
const seen = {
  seenBy: "artifact_store",
  service: "management",
  number: 4,
  position: 9,
  hash: Buffer.alloc(32, 5),
  sealedAt: "1700000000000001",
  anchoredAt: "1700000000000002",
} as const;
const base64 = (key: Buffer) => key.toString("base64");

test("a signature covers everything that an anchor says", () => {
  const keys = new Map([["artifact_store", [other.publicKey, signer.publicKey]]]);
  const anchor = signAnchor(signer, seen);
  expect(faultOf(anchor, keys)).toBeUndefined();
  const changes: Partial<Anchor>[] = [
    { seenBy: "rollout_engine" },
    { service: "rollout_engine" },
    { number: 5 },
    { position: 8 },
    { hash: Buffer.alloc(32) },
    { sealedAt: "1700000000000000" },
    { anchoredAt: "1700000000000003" },
    { publicKey: other.publicKey },
  ];
  for (const change of changes) expect(faultOf({ ...anchor, ...change }, keys), Object.keys(change)[0]).toMatch(/was changed$/);
  expect(faultOf(anchor, new Map([["artifact_store", [other.publicKey]]]))).toMatch(/not its own$/);
});

test("an unsigned anchor counts only if no key is known", () => {
  const anchor = signAnchor(undefined, seen);
  expect(counts(anchor, new Map())).toBe(true);
  expect(counts(anchor, new Map([["artifact_store", [signer.publicKey]]]))).toBe(false);
  expect(counts(signAnchor(signer, seen), new Map([["artifact_store", [signer.publicKey]]]))).toBe(true);
});

test("keys are read by service, several per service too, and anything else is refused", () => {
  const text = `artifact-store=${base64(signer.publicKey)}, artifact-store=${base64(other.publicKey)},management=${base64(other.publicKey)}`;
  expect(parseAnchorKeys(text)).toEqual(
    new Map([
      ["artifact_store", [signer.publicKey, other.publicKey]],
      ["management", [other.publicKey]],
    ]),
  );
  for (const wrong of ["", "management", "management=", "management=abc=", `x y=${base64(signer.publicKey)}`])
    expect(() => parseAnchorKeys(wrong), wrong).toThrow("each key must be");
});
