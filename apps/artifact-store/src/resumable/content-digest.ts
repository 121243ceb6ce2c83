import { HarrierError } from "@harrier/errors";

export interface GivenDigest {
  readonly algorithm: "sha256" | "sha512";
  readonly value: Buffer;
}

/** The algorithms of RFC 9530 that are not broken, the longest first, with the length of their digests in bytes. */
const algorithms = [
  ["sha-512", "sha512", 64],
  ["sha-256", "sha256", 32],
] as const;

/**
 * Reads the header `Content-Digest` (RFC 9530 §2): the digest of the bytes that are sent, as `sha-256=:<base64>:`. Algorithms that are not known are
 * passed over, as the RFC demands.
 * @throws HarrierError constraintViolation for a digest that is not well formed.
 */
export function readContentDigest(header: string | undefined): GivenDigest | undefined {
  if (header === undefined) return undefined;
  const members = new Map(header.split(",").map((member) => splitMember(member.trim())));
  for (const [name, algorithm, length] of algorithms) {
    const text = members.get(name);
    if (text === undefined) continue;
    const value = /^:([A-Za-z0-9+/]*={0,2}):$/.exec(text)?.[1];
    const bytes = Buffer.from(value ?? "", "base64");
    if (bytes.length !== length) throw new HarrierError("constraintViolation", `Content-Digest: ${name} is not well formed.`);
    return { algorithm, value: bytes };
  }
  return undefined;
}

function splitMember(member: string): [name: string, value: string] {
  const at = member.indexOf("=");
  return at < 0 ? [member.toLowerCase(), ""] : [member.slice(0, at).toLowerCase(), member.slice(at + 1)];
}
