import { statement } from "@harrier/db";
import { claimText } from "../work/leases.sql.ts";

export interface FillClaim {
  tenantId: number;
  rolloutId: number;
  /** Rings counted when it was claimed; what rings later must not be lost at the release. */
  rung: number;
  /** Looks in a row that found nobody. */
  idle: number;
  attempts: number;
}

/** The walk goes over those that run alone, however many have ended or wait. */
const running = `(
      select x.* from rollouts r join dynamic_leases x on x.tenant_id = r.tenant_id and x.rollout_id = r.id
       where r.dynamic and r.status = 'running')`;

/** Running dynamic rollouts that are due and free, taken for `seconds`: tenants take turns (work/leases.sql.ts). */
export const claimFills = statement<[owner: string, seconds: number, limit: number, perTenant: number], FillClaim>(
  "dynamic.claim",
  claimText(
    { table: "dynamic_leases", key: "rollout_id", among: running },
    { set: "", returning: 'l.rollout_id as "rolloutId", l.rung, l.idle, l.attempts' },
  ),
);

/** Gives a claim back until `restMs` have passed, or a ring after `deafMs`; one that rang meanwhile counts as one after. */
export const releaseFill = statement<
  [
    tenantId: number,
    rolloutId: number,
    owner: string,
    rung: number,
    restMs: number,
    deafMs: number,
    idle: number,
    attempts: number,
    lastError: string | null,
  ],
  never
>(
  "dynamic.release",
  `update dynamic_leases
      set owner = null, until = null, idle = $7, attempts = $8, last_error = $9, failed_at = case when $9::text is not null then now() end,
          rested_at = now() + make_interval(secs => $6::float8 / 1000),
          due_at = now() + make_interval(secs => (case when rung <> $4 then $6::float8 else $5::float8 end) / 1000)
    where tenant_id = $1 and rollout_id = $2 and owner = $3`,
);
