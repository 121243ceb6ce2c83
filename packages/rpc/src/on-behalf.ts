import { onwardAudiences } from "./callers.ts";
import { clockDifferenceMs, isSame, macOf, type Principal, payloadOf, principalOf, refused } from "./identity.ts";
import type { KeySet, Pair } from "./keys.ts";
import type { ServiceName } from "./services.ts";

/** Header of a request to a service, and metadata of the calls that it makes for it: the gateway's word on who the person is. */
export const onBehalfHeader = "x-harrier-on-behalf" as const;

/** What a service passes on when it acts for the person of a request. */
export interface OnBehalf {
  /** Payload of the identity that the gateway signed; the word covers it. */
  readonly payload: string;
  /** The header as it came from the gateway. */
  readonly words: string;
}

/** An answer is due within half of it; what a service does for a person is done by then. */
const wordLifeMs = 60_000;
/** Uploads to artifact-store take the time they take, and are told on at their end; an import to management is a list. */
const uploadWordLifeMs = 12 * 3_600_000;
const importWordLifeMs = 3_600_000;

/**
 * The gateway's word for the services that `holder`, the audience of `token`, calls in the name of persons: `<expiry>;<audience>=<key id>.<mac>;…`
 * with one mac per audience under the gateway's key with that audience, which the holder does not have. Undefined where it calls nobody so.
 */
export function vouch(keys: KeySet, token: string, options: Vouched): string | undefined {
  const { holder, transfer } = options;
  const audiences = (onwards[holder] ?? []).filter((audience) => keys.has(`gateway/${audience}`));
  if (audiences.length === 0) return undefined;
  const payload = payloadOf(token);
  const expiresAt = options.expiresAt + lifeOf(holder, transfer);
  const words = audiences.map((audience) => {
    const ring = ringOf(keys, audience);
    return `${audience}=${ring.first.id}.${macOf(ring.first.secret, bound(payload, { holder, expiresAt, audience }))}`;
  });
  return `${expiresAt};${words.join(";")}`;
}

function lifeOf(holder: ServiceName, transfer: boolean): number {
  if (!transfer) return wordLifeMs;
  return holder === "artifact-store" ? uploadWordLifeMs : importWordLifeMs;
}

export interface Vouched {
  /** Audience of the token: who may use the word. */
  readonly holder: ServiceName;
  /** End of the token; the word lasts longer, for what the service does meanwhile. */
  readonly expiresAt: number;
  readonly transfer: boolean;
}

function ringOf(keys: KeySet, audience: ServiceName) {
  const pair: Pair = `gateway/${audience}`;
  const ring = keys.get(pair);
  if (ring === undefined) throw new Error(`no identity key for ${pair}`);
  return ring;
}

const onwards: Readonly<Partial<Record<ServiceName, readonly ServiceName[]>>> = Object.fromEntries(
  (["management", "artifact-store", "rollout-engine", "controller"] as const).map((holder) => [holder, onwardAudiences(holder)]),
);

/** What goes along in a call to `audience`: `<payload>.<expiry>.<key id>.<mac>`; undefined where the gateway gave no word for it. */
export function wordFor(audience: ServiceName, { payload, words }: OnBehalf): string | undefined {
  const [expiresAt = "", ...each] = words.split(";");
  const word = each.find((one) => one.startsWith(`${audience}=`));
  return word === undefined ? undefined : `${payload}.${expiresAt}.${word.slice(audience.length + 1)}`;
}

/**
 * The person that the gateway vouched for, to this audience and for this caller's request. Throws `identityRefused` for anything else: a service
 * cannot make somebody up, nor use the word that another service got.
 */
export function verifyWord(keys: KeySet, word: string | undefined, at: { audience: ServiceName; caller: ServiceName; now: number }) {
  const { audience, caller, now } = at;
  if (word === undefined) throw refused("the gateway does not vouch for the person", caller);
  const [payload = "", expiry = "", id = "", mac = "", ...more] = word.split(".");
  const secret = keys.get(`gateway/${audience}`)?.byId.get(id);
  if (secret === undefined || more.length > 0) throw refused("unknown key of the gateway's word", caller);
  const expiresAt = Number(expiry);
  if (!isSame(mac, macOf(secret, bound(payload, { holder: caller, expiresAt, audience })))) {
    throw refused("the gateway did not vouch for this person to this caller", caller);
  }
  if (expiresAt <= now - clockDifferenceMs) throw refused("the gateway's word has expired", caller);
  return principalOf(payload);
}

/** The person is whom the caller's own signature names too, in the same request. */
export function isFor(person: Principal & { rid: string }, identity: Principal & { rid: string }): boolean {
  return (
    person.rid === identity.rid &&
    person.tenantId === identity.tenantId &&
    person.subject === identity.subject &&
    person.kind === identity.kind &&
    person.kind !== "service"
  );
}

/** Begins unlike an identity, so that neither can be taken for the other. */
function bound(payload: string, to: { holder: ServiceName; expiresAt: number; audience: ServiceName }): string {
  return `on-behalf\n${payload}\n${to.holder}\n${to.expiresAt}\n${to.audience}`;
}
