import { expect, test } from "vitest";
import { createSigner, isSignedBy } from "./signing.ts";

// the values are those of RFC 8032 §7.1, test 1
const seed = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex").toString("base64");

test("signs as specified in RFC 8032", () => {
  const signer = createSigner(seed);
  expect(signer.publicKey.toString("hex")).toBe("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  expect(signer.sign("").toString("hex")).toBe(
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  );
});

test("accepts only its own signature", () => {
  const signer = createSigner(seed);
  const signature = signer.sign("a");
  expect(isSignedBy(signer.publicKey, "a", signature)).toBe(true);
  expect(isSignedBy(signer.publicKey, "b", signature)).toBe(false);
  expect(isSignedBy(createSigner(Buffer.alloc(32, 1).toString("base64")).publicKey, "a", signature)).toBe(false);
  expect(isSignedBy(Buffer.alloc(31), "a", signature)).toBe(false);
  expect(isSignedBy(signer.publicKey, "a", Buffer.alloc(3))).toBe(false);
  expect(() => createSigner("c2hvcnQ=")).toThrow("32 bytes");
});
