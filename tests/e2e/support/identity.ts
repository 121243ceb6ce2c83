import { readFileSync } from "node:fs";
import { join } from "node:path";
import { routes } from "@harrier/contracts";
import {
  type Identity,
  identityHeaders,
  type KeySet,
  keyPairsOf,
  type Principal,
  parseKeys,
  type ServiceName,
  type unboundBody,
} from "@harrier/rpc";
import type { Stack } from "@harrier/stack";

/** Reads the keys that this installation made: those of one service, or those of all services together. */
export function keysOf(stack: Stack, service?: ServiceName): KeySet {
  const { identityKeys } = JSON.parse(readFileSync(join(stack.dataDir, "secrets.json"), "utf8")) as {
    identityKeys: Record<string, string>;
  };
  return parseKeys(
    Object.entries(identityKeys)
      .filter(([pair]) => service === undefined || (keyPairsOf(service) as string[]).includes(pair))
      .map(([pair, key]) => `${pair}=k1:${key}`)
      .join(";"),
  );
}

const tenant = { tenantId: 1, tenant: "DEFAULT" };

/** An administrator who holds all permissions that any route demands. */
export const administrator: Principal = {
  ...tenant,
  kind: "user",
  subject: "admin",
  permissions: [
    "READ_TARGET_SECURITY_TOKEN", // no route demands it, because it changes answers
    ...new Set(routes.flatMap((route) => [...route.permission, ...(route.permissionRest ?? []).flat()])),
  ],
};

export const deviceNamed = (controllerId: string): Principal => ({
  ...tenant,
  kind: "device",
  subject: controllerId,
  controllerId,
  permissions: [],
});

export type IdentityFields = Pick<Identity, "audience" | "method" | "path"> & Partial<Identity>;

/** Makes an identity as the gateway would, with any member replaced. */
export function identityOf(principal: Principal, fields: IdentityFields): Identity {
  return {
    ...principal,
    rid: "e2e",
    baseUrl: "http://127.0.0.1:1",
    expiresAt: Date.now() + 20_000,
    caller: "gateway" as ServiceName,
    ...fields,
  };
}

/** Makes headers that a service accepts as if the gateway had sent them. */
export function signedHeaders(
  keys: KeySet,
  principal: Principal,
  { content, ...fields }: IdentityFields & { content?: Buffer | typeof unboundBody },
): Record<string, string> {
  return { accept: "application/json", ...identityHeaders(keys, identityOf(principal, fields), content) };
}
