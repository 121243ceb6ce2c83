import { randomUUID } from "node:crypto";
import { countTenantRows, type Database, deleteTenantRows, eraseSliceMs } from "@harrier/db";
import { type Client, type OutCall, servicePrincipal } from "@harrier/rpc";
import type { Broker } from "../messaging/broker.ts";
import { type MessagingDeps, removeMessaging } from "../messaging/messaging.ts";

/** This is an owner of rows of tenants, which erases them slice by slice. */
export interface Owner {
  name: string;
  count(tenant: { id: number; name: string }): Promise<number>;
  /** `done` says that nothing was left. */
  erase(tenant: { id: number; name: string }): Promise<{ rows: number; done: boolean }>;
}

export interface OwnerDeps {
  db: Database;
  broker: Broker | undefined;
  rollouts: Pick<Client<"harrier.rolloutengine.v1.RolloutsService">, "eraseTenantRollouts">;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "eraseTenantTargets">;
  artifacts: Pick<Client<"harrier.artifactstore.v1.ArtifactsService">, "eraseTenantArtifacts">;
}

/** The timeout is long because a count reads every row once. */
const callMs = 30_000;

/**
 * Returns all owners in the order in which they are called: an owner that gives others work comes first, and artifact-store comes after the
 * rows that its uploads would be attached to.
 */
export function ownersOf({ db, broker, rollouts, targets, artifacts }: OwnerDeps): readonly Owner[] {
  return [
    messagingOf({ db, broker }),
    remote("rollout-engine", (request, call) => rollouts.eraseTenantRollouts(request, call)),
    remote("controller", (request, call) => targets.eraseTenantTargets(request, call)),
    ownRows(db),
    remote("artifact-store", (request, call) => artifacts.eraseTenantArtifacts(request, call)),
  ];
}

/** The virtual host goes before the rows of the tenant, which say which one it is. */
function messagingOf(deps: MessagingDeps): Owner {
  return {
    name: "messaging",
    count: async () => 0,
    async erase({ id }) {
      await removeMessaging(deps, id);
      return { rows: 0, done: true };
    },
  };
}

type Ask = (request: { countOnly: boolean }, call: OutCall) => Promise<{ rows: number; done: boolean }>;

function remote(name: string, ask: Ask): Owner {
  const call = (tenant: { id: number; name: string }): OutCall => ({
    principal: servicePrincipal("management", tenant),
    rid: randomUUID(),
    deadline: Date.now() + callMs,
  });
  return {
    name,
    count: async (tenant) => (await ask({ countOnly: true }, call(tenant))).rows,
    erase: (tenant) => ask({ countOnly: false }, call(tenant)),
  };
}

/**
 * Erases the tenant's own rows. The row of the tenant reserves its name and is deleted last. The change log keeps the entry that ends its
 * principals until it is dropped by age: a gateway that has not read it yet would accept them from its cache.
 */
function ownRows(db: Pick<Database, "pool">): Owner {
  const which = (tenantId: number) => ({ pool: db.pool, schema: "management", tenantId, except: ["tenants", "credential_changes"] });
  return {
    name: "management",
    count: ({ id }) => countTenantRows(which(id)),
    async erase({ id }) {
      const { deleted, done } = await deleteTenantRows({ ...which(id), untilMs: Date.now() + eraseSliceMs });
      return { rows: deleted, done };
    },
  };
}
