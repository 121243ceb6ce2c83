import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";

/** Signs with Ed25519 (RFC 8032), so that the verifier needs no secret. */
export interface Signer {
  /** It has 32 bytes. */
  readonly publicKey: Buffer;
  /** Answers 64 bytes. */
  sign(text: string): Buffer;
}

const keyBytes = 32;
// these bytes precede the 32 bytes of a key in PKCS #8 and in SPKI (RFC 8410 §7 and §4)
const privatePrefix = Buffer.from("302e020100300506032b657004220420", "hex");
const publicPrefix = Buffer.from("302a300506032b6570032100", "hex");

/** Makes a signer from 32 random bytes in base64, which must stay secret. */
export function createSigner(base64key: string): Signer {
  const seed = Buffer.from(base64key, "base64");
  if (seed.length !== keyBytes) throw new Error(`the key must be ${keyBytes} bytes in base64`);
  const key = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(publicPrefix.length);
  return { publicKey, sign: (text) => sign(null, Buffer.from(text, "utf8"), key) };
}

/** Whether the signature is valid; false also if the key is none. */
export function isSignedBy(publicKey: Buffer, text: string, signature: Buffer): boolean {
  if (publicKey.length !== keyBytes) return false;
  try {
    const key = createPublicKey({ key: Buffer.concat([publicPrefix, publicKey]), format: "der", type: "spki" });
    return verify(null, Buffer.from(text, "utf8"), key, signature);
  } catch {
    return false;
  }
}
