import { onwardAudiences } from "./callers.ts";
import { clockDifferenceMs, isSame, macOf, type Principal, payloadOf, principalOf, refused } from "./identity.ts";
import type { KeySet, Pair } from "./keys.ts";
import type { ServiceName } from "./services.ts";

/** The header of a request to a service, and the metadata of the calls that it makes for it, carry the gateway's delegation. */
export const onBehalfHeader = "x-harrier-on-behalf" as const;

/** A service passes this on when it acts for the principal of a request. */
export interface OnBehalf {
  /** The payload of the identity that the gateway signed; the delegation covers it. */
  readonly payload: string;
  /** The header as it came from the gateway. */
  readonly delegations: string;
}

/** An answer is due within half of it, and by then a service has done what it does for the principal. */
const delegationLifeMs = 60_000;
/** Uploads to artifact-store take long and make their call at the end; an import to management is a list. */
const uploadDelegationLifeMs = 12 * 3_600_000;
const importDelegationLifeMs = 3_600_000;

/**
 * Makes the gateway's delegations for the services that `holder`, the audience of `token`, calls on behalf of principals: `<expiry>;<audience>=<key
 * id>.<mac>;…` with one MAC per audience under the gateway's key with that audience, which the holder does not have. It is undefined if the holder
 * makes no such calls.
 */
export function delegate(keys: KeySet, token: string, options: Delegated): string | undefined {
  const { holder, transfer } = options;
  const audiences = (onwards[holder] ?? []).filter((audience) => keys.has(`gateway/${audience}`));
  if (audiences.length === 0) return undefined;
  const payload = payloadOf(token);
  const expiresAt = options.expiresAt + lifeOf(holder, transfer);
  const delegations = audiences.map((audience) => {
    const keyRing = keyRingOf(keys, audience);
    return `${audience}=${keyRing.first.id}.${macOf(keyRing.first.secret, bound(payload, { holder, expiresAt, audience }))}`;
  });
  return `${expiresAt};${delegations.join(";")}`;
}

function lifeOf(holder: ServiceName, transfer: boolean): number {
  if (!transfer) return delegationLifeMs;
  return holder === "artifact-store" ? uploadDelegationLifeMs : importDelegationLifeMs;
}

export interface Delegated {
  /** The audience of the token, which may use the delegation. */
  readonly holder: ServiceName;
  /** The end of the token; the delegation lasts longer, for the work that the service does meanwhile. */
  readonly expiresAt: number;
  readonly transfer: boolean;
}

function keyRingOf(keys: KeySet, audience: ServiceName) {
  const pair: Pair = `gateway/${audience}`;
  const keyRing = keys.get(pair);
  if (keyRing === undefined) throw new Error(`no identity key for ${pair}`);
  return keyRing;
}

const onwards: Readonly<Partial<Record<ServiceName, readonly ServiceName[]>>> = Object.fromEntries(
  (["management", "artifact-store", "rollout-engine", "controller"] as const).map((holder) => [holder, onwardAudiences(holder)]),
);

/** Answers what a call to `audience` carries: `<payload>.<expiry>.<key id>.<mac>`; undefined if the gateway gave no delegation for it. */
export function delegationFor(audience: ServiceName, { payload, delegations }: OnBehalf): string | undefined {
  const [expiresAt = "", ...each] = delegations.split(";");
  const delegation = each.find((one) => one.startsWith(`${audience}=`));
  return delegation === undefined ? undefined : `${payload}.${expiresAt}.${delegation.slice(audience.length + 1)}`;
}

/**
 * Answers the principal of the gateway's delegation to this audience for this caller's request. Throws `identityRefused` for anything else: a
 * service can neither invent a principal nor use a delegation that another service got.
 */
export function verifyDelegation(
  keys: KeySet,
  delegation: string | undefined,
  at: { audience: ServiceName; caller: ServiceName; now: number },
) {
  const { audience, caller, now } = at;
  if (delegation === undefined) throw refused("the gateway does not vouch for the person", caller);
  const [payload = "", expiry = "", id = "", mac = "", ...more] = delegation.split(".");
  const secret = keys.get(`gateway/${audience}`)?.byId.get(id);
  if (secret === undefined || more.length > 0) throw refused("unknown key of the gateway's word", caller);
  const expiresAt = Number(expiry);
  if (!isSame(mac, macOf(secret, bound(payload, { holder: caller, expiresAt, audience })))) {
    throw refused("the gateway did not vouch for this person to this caller", caller);
  }
  if (expiresAt <= now - clockDifferenceMs) throw refused("the gateway's word has expired", caller);
  return principalOf(payload);
}

/** Whether the caller's own signature names the same principal and the same request. */
export function isFor(person: Principal & { rid: string }, identity: Principal & { rid: string }): boolean {
  return (
    person.rid === identity.rid &&
    person.tenantId === identity.tenantId &&
    person.subject === identity.subject &&
    person.kind === identity.kind &&
    person.kind !== "service"
  );
}

/** The text begins unlike an identity, so that neither signature is valid for the other. */
function bound(payload: string, to: { holder: ServiceName; expiresAt: number; audience: ServiceName }): string {
  return `on-behalf\n${payload}\n${to.holder}\n${to.expiresAt}\n${to.audience}`;
}
