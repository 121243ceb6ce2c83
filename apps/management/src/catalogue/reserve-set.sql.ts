import { statement } from "@harrier/db";
import { setComplete } from "../rows/complete.ts";

export interface ReservedRow {
  id: number;
  name: string;
  version: string;
  typeId: number;
  migrationStep: boolean;
  revision: number;
  valid: boolean;
  complete: boolean;
  deleted: boolean;
  locked: boolean;
  /** This is false where the set is not assignable, or where it has ceased to be since this row was read. */
  counted: boolean;
  /** This is false where the set has been changed while this statement waited for it. */
  unchanged: boolean;
  /** The tenant locks sets at their first use (`implicit.lock.enabled`), unless a tag of the set says otherwise. */
  locksOnUse: boolean;
}

/** Sets with one of these tags are not locked at their first use (contract management.md §5.2). */
const skipLockTags = "array['skip-implicit-lock', 'skip_implicit_lock']";

/** Rows of sets are locked by ascending id, so that two statements that want the same sets do not deadlock. */
const held = `select id from distribution_sets s
      where tenant_id = $1 and id = any ($2::bigint[]) and valid and ${setComplete("s")} and not deleted
      order by id for no key update`;

/**
 * Reads sets and counts their reservations in one statement: from here on a deletion of such a set is a soft one. Only a set that may be
 * assigned is counted. A reservation is not visible outside, as it changes neither the revision nor the audit members.
 */
export const reserveSets = statement<[tenantId: number, ids: readonly number[]], ReservedRow>(
  "management.reserve_sets",
  `with held as materialized (${held}), counted as (
     update distribution_sets s
        set reservations = case when reserved_at > now() - interval '1 minute' then reservations else 0 end + 1, reserved_at = now()
       from held where s.tenant_id = $1 and s.id = held.id and s.valid and ${setComplete("s")} and not s.deleted
     returning s.id, s.revision)
   select s.id, s.name, s.version, s.type_id as "typeId", s.migration_step as "migrationStep", s.revision, s.valid,
          ${setComplete("s")} as complete, s.deleted,
          s.locked, exists (select from counted c where c.id = s.id) as counted,
          -- false: its artifacts may be others than those that were counted before we waited for its row
          exists (select from counted c where c.id = s.id and c.revision = s.revision) as unchanged,
          coalesce((select c.value = 'true'::jsonb from settings c where c.tenant_id = $1 and c.key = 'implicit.lock.enabled'), true)
            and not exists (select from distribution_set_tag_links l
                              join distribution_set_tags g on g.tenant_id = l.tenant_id and g.id = l.tag_id
                             where l.tenant_id = $1 and l.set_id = s.id and lower(g.name) = any (${skipLockTags})) as "locksOnUse"
     from distribution_sets s where s.tenant_id = $1 and s.id = any ($2::bigint[])`,
);

/** Ends a reservation once the assignment has ended: its actions exist, or will never exist. */
export const endReservations = statement<[tenantId: number, ids: readonly number[]], unknown>(
  "management.end_reservations",
  `with held as materialized (
     select id from distribution_sets where tenant_id = $1 and id = any ($2::bigint[]) order by id for no key update)
   update distribution_sets s set reservations = s.reservations - 1 from held where s.tenant_id = $1 and s.id = held.id and s.reservations > 0`,
);

/** Applies the implicit lock; the modification time stays because no user edited the set. */
export const lockReservedSet = statement<[tenantId: number, id: number], { revision: number }>(
  "management.lock_reserved_set",
  "update distribution_sets set locked = true, revision = revision + 1 where tenant_id = $1 and id = $2 and not locked returning revision",
);
