import { untilAborted } from "@harrier/db";
import type { Within } from "@harrier/rpc";
import { TenantLimiter } from "@harrier/service";

/**
 * Of the eight connections of commands, users of one tenant get three, users of all tenants six. The rest is for what services do on their own, above
 * all for the groups of rollouts. A gateway allows 64 requests of a tenant at a time, which may all wait here.
 */
const limits = { perTenant: 3, total: 6, waiting: 128 };

/** Runs a call so that its statements end with it; calls on behalf of principals share the connections by tenant (ADR 24). */
export function commandsByTenant(): Within {
  const limiter = new TenantLimiter(limits);
  return (signal, work, { kind, tenantId }) => {
    const run = () => untilAborted(signal, work);
    return kind === "service" ? run() : limiter.limiterOf(tenantId, signal).run(run);
  };
}
