import { statement } from "@harrier/db";

export type CancelType = "soft" | "force" | "none";

/** This is an invalidation that has not ended: what is still to be ended, and for whom. */
export interface Invalidation {
  tenantId: number;
  tenant: string;
  id: number;
  subject: string;
  setId: number;
  cancel: CancelType;
  stopRollouts: boolean;
  /** Until this time, in epoch ms, an assignment or a rollout that began before may still be on its way to its owner. */
  settledAt: number;
  /** This is how far the actions of the set have been visited; -1 means that none has. */
  cursor: number;
  createdBy: string;
}

const members = `o.tenant_id as "tenantId", o.id, o.subject, (o.payload ->> 'setId')::bigint as "setId", o.payload ->> 'cancel' as cancel,
  (o.payload ->> 'stopRollouts')::boolean as "stopRollouts", (o.payload ->> 'settledAt')::bigint as "settledAt",
  coalesce((o.payload ->> 'cursor')::bigint, -1) as cursor, o.created_by as "createdBy"`;

/** Makes a set invalid for good: nothing makes it valid again. */
export const invalidate = statement<[tenantId: number, id: number, actor: string], never>(
  "management.invalidate_set",
  `update distribution_sets set valid = false, last_modified_by = $3, last_modified_at = now(), revision = revision + 1
    where tenant_id = $1 and id = $2`,
);

/**
 * Stores an invalidation. The request that asked for it works on it first, hence it is not due before its lease ends. A reservation lasts a
 * minute (catalogue/reserve-set.sql.ts).
 */
export const beginInvalidation = statement<
  [tenantId: number, setId: number, tenant: string, cancel: CancelType, stopRollouts: boolean, leaseSeconds: number, actor: string],
  Invalidation
>(
  "management.begin_set_invalidation",
  `insert into background_operations as o (tenant_id, kind, subject, payload, status, started_at, due_at, created_by)
   select $1, 'invalidate-set', s.name || ':' || s.version,
          jsonb_build_object('setId', s.id, 'cancel', $4::text, 'stopRollouts', $5::boolean, 'settledAt', floor(extract(epoch from
            case when s.reservations > 0 and s.reserved_at > now() - interval '1 minute' then s.reserved_at + interval '1 minute' else now() end)
            * 1000)),
          'running', now(), now() + make_interval(secs => $6), $7
     from distribution_sets s where s.tenant_id = $1 and s.id = $2
   returning ${members}, $3::text as tenant`,
);

/**
 * Claims the invalidation that has been due longest. Its due time moves ahead at once: this is a lease, which ends by itself when the
 * replica dies.
 */
export const takeDueInvalidation = statement<[leaseSeconds: number], Invalidation>(
  "management.take_due_set_invalidation",
  `update background_operations o
      set due_at = now() + make_interval(secs => $1), status = 'running', started_at = coalesce(o.started_at, now())
     from (select b.tenant_id, b.id, t.name from background_operations b join tenants t on t.tenant_id = b.tenant_id
            where b.kind = 'invalidate-set' and b.ended_at is null and b.due_at <= now()
            order by b.due_at limit 1 for update of b skip locked) d
    where o.tenant_id = d.tenant_id and o.id = d.id
   returning ${members}, d.name as tenant`,
);

/** Records how many more actions are cancelled and the cursor, and extends the lease. */
export const recordCursor = statement<[tenantId: number, id: number, cursor: number, more: number, leaseSeconds: number], never>(
  "management.record_set_invalidation_cursor",
  `update background_operations
      set payload = payload || jsonb_build_object('cursor', $3::bigint), done = done + $4, due_at = now() + make_interval(secs => $5),
          attempts = 0, last_error = null
    where tenant_id = $1 and id = $2 and ended_at is null`,
);
