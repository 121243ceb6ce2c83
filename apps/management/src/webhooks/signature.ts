import { createHmac, randomBytes } from "node:crypto";

const prefix = "whsec_";

/** Makes the secret of a webhook: 32 random bytes in the form of Standard Webhooks. */
export const newSecret = (): string => prefix + randomBytes(32).toString("base64");

/**
 * The headers of Standard Webhooks: id, time (epoch seconds) and body are signed with HMAC-SHA256 under the bytes of the secret, so that a receiver
 * knows the sender, and drops what is old or repeated.
 */
export function signed(secret: string, { id, at, body }: { id: string; at: number; body: string }): Record<string, string> {
  const key = Buffer.from(secret.slice(prefix.length), "base64");
  const timestamp = String(Math.floor(at / 1_000));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
