import { createSecretKey, type KeyObject } from "node:crypto";
import { callPairs } from "./callers.ts";
import { type ServiceName, serviceNames } from "./services.ts";

interface PairKeys {
  /** It signs and also verifies. */
  readonly first: { readonly id: string; readonly secret: KeyObject };
  readonly byId: ReadonlyMap<string, KeyObject>;
}

/** The caller and the audience: `gateway/controller`. Each pair has keys that nobody else holds. */
export type Pair = `${ServiceName}/${ServiceName}`;

/** The keys of the pairs that a process belongs to. The key of a MAC therefore identifies its maker. */
export type KeySet = ReadonlyMap<Pair, PairKeys>;

const minKeyBytes = 32; // in bytes; it is as long as the digest that it is used for

/**
 * Reads `gateway/controller=k1:<base64>,k0:<base64>;management/controller=k1:<base64>`. The first key of a pair signs, and all verify: at a
 * rotation the new key is added behind, then moved to the front, then the old one is removed. With `service` given, all of its pairs must be
 * present and no others: a key in the wrong place would let this process speak for another one. Only pairs of `service` with a service that this
 * release does not know are passed over: the next release may have one, and this one has to start with its keys. Throws an Error that says what is
 * wrong.
 */
export function parseKeys(text: string, service?: ServiceName): KeySet {
  const keyRings = new Map<Pair, PairKeys>();
  for (const part of text.split(";")) {
    if (part.trim() === "") continue;
    const equals = part.indexOf("=");
    const pair = part.slice(0, Math.max(equals, 0)).trim();
    if (service !== undefined && isOfNewerRelease(pair, service)) continue;
    if (!isPair(pair)) throw new Error(`identity keys: "${pair}" is not a pair caller/audience of two services`);
    if (keyRings.has(pair)) throw new Error(`identity keys: ${pair} is given twice`);
    keyRings.set(pair, parseKeyRing(pair, part.slice(equals + 1)));
  }
  if (keyRings.size === 0) throw new Error("identity keys: no key is given");
  if (service !== undefined) checkPairs(keyRings, service);
  return keyRings;
}

/** Answers the pairs that have keys: the calls of the caller table, and the gateway with every service that it forwards to (dmf serves nothing). */
export function keyPairs(): Pair[] {
  const forwards = serviceNames.filter((name) => name !== "gateway" && name !== "dmf").map((audience): Pair => `gateway/${audience}`);
  return [...new Set([...forwards, ...callPairs()])].sort();
}

/** Answers the pairs whose keys this service needs: those in which it is the caller or the audience. */
export function keyPairsOf(service: ServiceName): Pair[] {
  return keyPairs().filter((pair) => pair.split("/").includes(service));
}

function checkPairs(keyRings: KeySet, service: ServiceName): void {
  const own = keyPairsOf(service);
  for (const pair of keyRings.keys()) {
    if (!own.includes(pair))
      throw new Error(`identity keys: ${pair} is none of ${service}'s, take it away: ${service} has ${own.join(", ")}`);
  }
  const missing = own.filter((pair) => !keyRings.has(pair));
  if (missing.length > 0) throw new Error(`identity keys: ${service} has no key for ${missing.join(", ")}`);
}

function parseKeyRing(pair: string, text: string): PairKeys {
  const byId = new Map<string, KeyObject>();
  let first: PairKeys["first"] | undefined;
  for (const entry of text.split(",")) {
    const colon = entry.indexOf(":");
    const id = entry.slice(0, Math.max(colon, 0)).trim();
    // the id stands between the dots of a token
    if (!/^[\w-]{1,32}$/.test(id)) throw new Error(`identity keys: a key of ${pair} has no id of letters, digits, "-" or "_"`);
    if (byId.has(id)) throw new Error(`identity keys: ${pair} has two keys "${id}"`);
    const bytes = Buffer.from(entry.slice(colon + 1).trim(), "base64");
    if (bytes.length < minKeyBytes) throw new Error(`identity keys: key "${id}" of ${pair} is shorter than ${minKeyBytes} bytes`);
    const secret = createSecretKey(bytes);
    byId.set(id, secret);
    first ??= { id, secret };
  }
  if (first === undefined) throw new Error(`identity keys: ${pair} has no key`);
  return { first, byId };
}

function isPair(text: string): text is Pair {
  const [caller = "", audience = "", ...more] = text.split("/");
  return more.length === 0 && isServiceName(caller) && isServiceName(audience);
}

/** Whether it is a pair of this service with one that only a newer release has. A misspelt name is noticed too, because its own pair is missing. */
function isOfNewerRelease(pair: string, service: ServiceName): boolean {
  const names = pair.split("/");
  const others = names.filter((name) => name !== service);
  return names.length === 2 && others.length === 1 && others.every((name) => /^[a-z][a-z-]*$/.test(name) && !isServiceName(name));
}

function isServiceName(text: string): text is ServiceName {
  return (serviceNames as readonly string[]).includes(text);
}
