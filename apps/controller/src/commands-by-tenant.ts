import { untilAborted } from "@harrier/db";
import type { Within } from "@harrier/rpc";
import { TenantLimiter } from "@harrier/service";

/**
 * Of the eight connections of commands: three of one tenant, six of all. The rest is for what services do on their own, above all the groups of
 * rollouts. A gateway lets 64 requests of a tenant be under way, which may all wait here.
 */
const limits = { perTenant: 3, total: 6, waiting: 128 };

/** Runs a call so that its statements end with it; calls for people share the connections among their tenants (ADR 24). */
export function commandsByTenant(): Within {
  const limiter = new TenantLimiter(limits);
  return (signal, work, { kind, tenantId }) => {
    const run = () => untilAborted(signal, work);
    return kind === "service" ? run() : limiter.turnsOf(tenantId, signal).run(run);
  };
}
