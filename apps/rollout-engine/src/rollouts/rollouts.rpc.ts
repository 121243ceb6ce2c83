import type { Database } from "@harrier/db";
import type { Handlers } from "@harrier/rpc";
import { eraseTenant } from "../tenants/erase-tenant.ts";
import { stopRolloutsOfSet } from "./stop-rollouts.ts";

interface Deps {
  db: Pick<Database, "pool">;
  wake: () => void;
}

/** Handles harrier.rolloutengine.v1.RolloutsService: other services send commands on rollouts here. */
export function rolloutsHandlers(deps: Deps): Handlers<"harrier.rolloutengine.v1.RolloutsService"> {
  return {
    eraseTenantRollouts: (request, ctx) => eraseTenant(deps, request, ctx),
    stopRolloutsOfSet: (request, ctx) => stopRolloutsOfSet(deps, request, ctx),
  };
}
