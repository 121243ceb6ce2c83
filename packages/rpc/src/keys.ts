import { createSecretKey, type KeyObject } from "node:crypto";
import { type ServiceName, serviceNames } from "./services.ts";

interface AudienceKeys {
  /** Signs; also verifies. */
  readonly first: { readonly id: string; readonly secret: KeyObject };
  readonly byId: ReadonlyMap<string, KeyObject>;
}

/** One key ring per audience: whoever may talk to a service holds that service's key, and no other service's. */
export type KeySet = ReadonlyMap<ServiceName, AudienceKeys>;

const shortestKey = 32; // bytes; as long as the digest it feeds

/**
 * Reads `controller=k1:<base64>,k0:<base64>;management=k1:<base64>`. The first key of an audience signs, all verify:
 * at a rotation the new key is added behind, then moved to the front, then the old one goes.
 */
export function parseKeys(text: string): KeySet {
  const rings = new Map<ServiceName, AudienceKeys>();
  for (const part of text.split(";")) {
    if (part.trim() === "") continue;
    const equals = part.indexOf("=");
    const audience = part.slice(0, Math.max(equals, 0)).trim();
    if (!isServiceName(audience)) throw new Error(`identity keys: "${audience}" is not a service`);
    if (rings.has(audience)) throw new Error(`identity keys: ${audience} is given twice`);
    rings.set(audience, parseRing(audience, part.slice(equals + 1)));
  }
  if (rings.size === 0) throw new Error("identity keys: no key is given");
  return rings;
}

function parseRing(audience: string, text: string): AudienceKeys {
  const byId = new Map<string, KeyObject>();
  let first: AudienceKeys["first"] | undefined;
  for (const entry of text.split(",")) {
    const colon = entry.indexOf(":");
    const id = entry.slice(0, Math.max(colon, 0)).trim();
    // the id stands between the dots of a token
    if (!/^[\w-]{1,32}$/.test(id)) throw new Error(`identity keys: a key of ${audience} has no id of letters, digits, "-" or "_"`);
    if (byId.has(id)) throw new Error(`identity keys: ${audience} has two keys "${id}"`);
    const bytes = Buffer.from(entry.slice(colon + 1).trim(), "base64");
    if (bytes.length < shortestKey) throw new Error(`identity keys: key "${id}" of ${audience} is shorter than ${shortestKey} bytes`);
    const secret = createSecretKey(bytes);
    byId.set(id, secret);
    first ??= { id, secret };
  }
  if (first === undefined) throw new Error(`identity keys: ${audience} has no key`);
  return { first, byId };
}

function isServiceName(text: string): text is ServiceName {
  return (serviceNames as readonly string[]).includes(text);
}
