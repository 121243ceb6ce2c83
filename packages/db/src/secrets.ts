import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** Keeps secrets that must be read back (target tokens, gateway keys) unreadable in the database. */
export interface SecretBox {
  seal(text: string): Buffer;
  open(sealed: Buffer): string;
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** Seals with AES-256-GCM. A sealed value is: version (1 byte), nonce (12), tag (16), ciphertext. */
export function createSecretBox(base64key: string): SecretBox {
  const key = Buffer.from(base64key, "base64");
  if (key.length !== KEY_BYTES) throw new Error(`the secret key must be ${KEY_BYTES} bytes in base64`);
  return {
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), body]);
    },
    open(sealed) {
      if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) throw new Error("not a sealed value");
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 1 + NONCE_BYTES));
      decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES));
      const body = decipher.update(sealed.subarray(1 + NONCE_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([body, decipher.final()]).toString("utf8");
      } catch (cause) {
        // an operator who has lost the key sees this at a start, so it says what to do
        throw new Error("a secret of the database was sealed with another HARRIER_SECRET_KEY, or is damaged", { cause });
      }
    },
  };
}

/** Computes the SHA-256 under which random tokens are stored for look-up. Passwords need a slow hash instead. */
export function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
