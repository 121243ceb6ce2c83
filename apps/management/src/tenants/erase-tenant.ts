import { randomUUID } from "node:crypto";
import { countTenantRows, type Database, deleteTenantRows } from "@harrier/db";
import { type Client, type OutCall, servicePrincipal } from "@harrier/rpc";

/** One who has rows of tenants, and erases them slice by slice. */
export interface Owner {
  name: string;
  count(tenant: { id: number; name: string }): Promise<number>;
  /** `done`: nothing was left. */
  erase(tenant: { id: number; name: string }): Promise<{ rows: number; done: boolean }>;
}

export interface OwnerDeps {
  db: Pick<Database, "pool">;
  rollouts: Pick<Client<"harrier.rolloutengine.v1.RolloutsService">, "eraseTenantRollouts">;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "eraseTenantTargets">;
  artifacts: Pick<Client<"harrier.artifactstore.v1.ArtifactsService">, "eraseTenantArtifacts">;
}

/** A count looks at every row once. */
const callMs = 30_000;
const sliceMs = 2_000;

/**
 * All owners in the order in which they are asked: who gives the others work comes first, and artifact-store after the rows that its uploads
 * would be attached to.
 */
export function ownersOf({ db, rollouts, targets, artifacts }: OwnerDeps): readonly Owner[] {
  return [
    remote("rollout-engine", (request, call) => rollouts.eraseTenantRollouts(request, call)),
    remote("controller", (request, call) => targets.eraseTenantTargets(request, call)),
    ownRows(db),
    remote("artifact-store", (request, call) => artifacts.eraseTenantArtifacts(request, call)),
  ];
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
 * The tenant's own row is its claim to its name, and goes at the very end. That its people are to be forgotten stays in the change log until that
 * is dropped by age: a gateway that has not heard of it yet would let them in from its cache.
 */
function ownRows(db: Pick<Database, "pool">): Owner {
  const which = (tenantId: number) => ({ pool: db.pool, schema: "management", tenantId, except: ["tenants", "credential_changes"] });
  return {
    name: "management",
    count: ({ id }) => countTenantRows(which(id)),
    async erase({ id }) {
      const { deleted, done } = await deleteTenantRows({ ...which(id), untilMs: Date.now() + sliceMs });
      return { rows: deleted, done };
    },
  };
}
