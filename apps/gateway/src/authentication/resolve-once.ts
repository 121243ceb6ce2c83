import { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { registerPermission } from "./gateway-token.ts";
import type { PrincipalCache } from "./principal-cache.ts";

interface Resolved {
  /** Undefined means not signed in. */
  readonly principal: Principal | undefined;
  readonly userId: number;
  readonly revision: number;
}

/**
 * Answers the principal of a proven token: from the cache, or as management resolves it, which is then cached until management reports a change.
 * Rejects with unauthenticated if it is nobody.
 */
export function resolveOnce(cache: PrincipalCache, meaning: string, resolve: () => Promise<Resolved>): Principal | Promise<Principal> {
  const digest = cache.digest(meaning);
  return cache.lookup(digest) ?? resolveAndKeep(cache, digest, resolve);
}

async function resolveAndKeep(cache: PrincipalCache, digest: string, resolve: () => Promise<Resolved>): Promise<Principal> {
  const generation = cache.generation;
  const { principal, userId, revision } = await resolve();
  if (principal === undefined) throw new HarrierError("unauthenticated");
  cache.keep(digest, { principal, userId, revision, generation });
  return principal;
}

/** Makes the principal of a token for all devices of its tenant that of one device; throws unauthenticated if that device is of another tenant. */
export function asDevice(principal: Principal, { tenant, controllerId }: { tenant: string; controllerId: string }): Principal {
  if (principal.tenant.toUpperCase() !== tenant.toUpperCase()) throw new HarrierError("unauthenticated");
  return { ...principal, controllerId };
}

/** Whose token authenticates all devices of a tenant; its subject differs from that of every device. */
export const ofAllDevices = ({ tenantId, tenant }: { tenantId: number; tenant: string }, subject: string): Principal => ({
  tenantId,
  tenant,
  kind: "device",
  subject,
  external: true,
  permissions: [registerPermission],
});
