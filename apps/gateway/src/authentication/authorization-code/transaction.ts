import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { KeySet } from "@harrier/rpc";
import { z } from "zod";

const transaction = z.strictObject({
  /** The id of the issuer. */
  issuer: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  /** Where the page goes on. */
  to: z.string(),
  /** Epoch ms. */
  until: z.number(),
});

/** What a sign-in at an issuer has to remember between its two requests. */
export type Transaction = z.output<typeof transaction>;

const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/**
 * Seals transactions for a cookie, because the second request may come to another gateway. All gateways share the keys of their calls to management,
 * and from these come keys for this purpose alone.
 */
export class Transactions {
  readonly #sealing: Buffer;
  readonly #opening: readonly Buffer[];

  constructor(keys: KeySet) {
    const pair = keys.get("gateway/management");
    if (pair === undefined) throw new Error("no keys of gateway/management");
    const derived = (secret: Parameters<typeof hkdfSync>[1]) => Buffer.from(hkdfSync("sha256", secret, "", "harrier console sign-in", 32));
    this.#sealing = derived(pair.first.secret);
    this.#opening = [...pair.byId.values()].map(derived);
  }

  seal(value: Transaction): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.#sealing, iv);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
  }

  /** Undefined: it is none of ours, was changed, or is over. */
  open(text: string, now: number): Transaction | undefined {
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length <= ivBytes + tagBytes) return undefined;
    for (const key of this.#opening) {
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
        decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
        const opened = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
        const value = transaction.parse(JSON.parse(opened.toString("utf8")));
        return now < value.until ? value : undefined;
      } catch {
        // it was sealed with another key
      }
    }
    return undefined;
  }
}
