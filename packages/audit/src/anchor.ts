import { isSignedBy, type Signer } from "@harrier/db";
import type { AuditSchema } from "./anchor.sql.ts";

/** The end of one service's chain as another service saw it. Times are microseconds in a text. */
export interface SeenHead {
  /** The schema of the service whose chain it is. */
  readonly service: string;
  readonly number: number;
  readonly position: number;
  readonly hash: Buffer;
  readonly sealedAt: string;
}

export interface Anchor extends SeenHead {
  /** The schema of the service that saw it. */
  readonly seenBy: AuditSchema;
  readonly anchoredAt: string;
  readonly publicKey: Buffer | null;
  readonly signature: Buffer | null;
}

/** The public keys by the service that signs with them, present and former ones. */
export type AnchorKeys = ReadonlyMap<string, readonly Buffer[]>;

/** The version of the signed form; another form gets another number. */
const form = 1;

/** Makes the text that is signed: who saw what, and when. */
const signedText = (a: Omit<Anchor, "publicKey" | "signature">): string =>
  JSON.stringify([form, a.seenBy, a.service, a.number, a.position, a.hash.toString("hex"), a.sealedAt, a.anchoredAt]);

export function signAnchor(signer: Signer | undefined, seen: Omit<Anchor, "publicKey" | "signature">): Anchor {
  if (signer === undefined) return { ...seen, publicKey: null, signature: null };
  return { ...seen, publicKey: signer.publicKey, signature: signer.sign(signedText(seen)) };
}

/** Whether an anchor counts: if the keys of its service are known, only a signed one does. */
export const counts = ({ seenBy, signature }: Anchor, keys: AnchorKeys): boolean => signature !== null || !keys.has(seenBy);

/**
 * Answers what is wrong with an anchor's signature. If the service's keys are known, it must be by one of them; otherwise it must be valid, which
 * only proves that nobody has changed the row by hand.
 */
export function faultOf(anchor: Anchor, keys: AnchorKeys): string | undefined {
  const { seenBy, publicKey, signature } = anchor;
  const known = keys.get(seenBy);
  if (publicKey === null || signature === null) return undefined;
  if (known !== undefined && !known.some((key) => key.equals(publicKey)))
    return `an anchor of ${seenBy} is signed with a key that is not its own`;
  return isSignedBy(publicKey, signedText(anchor), signature) ? undefined : `an anchor of ${seenBy} was changed`;
}

/** Reads `service=key,service=key`, base64; a service may have several keys. Throws for anything else. */
export function parseAnchorKeys(text: string): AnchorKeys {
  const keys = new Map<string, Buffer[]>();
  for (const part of text.split(",").map((one) => one.trim())) {
    const [, service, base64] = /^([a-z-]+)=([A-Za-z0-9+/]{43}=)$/.exec(part) ?? [];
    if (service === undefined || base64 === undefined) throw new Error("each key must be <service>=<32 bytes in base64>");
    const schema = service.replaceAll("-", "_");
    keys.set(schema, [...(keys.get(schema) ?? []), Buffer.from(base64, "base64")]);
  }
  return keys;
}
