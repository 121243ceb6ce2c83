import { statement } from "@harrier/db";

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
  /** The tenant locks sets at their first use (`implicit.lock.enabled`). */
  locksOnUse: boolean;
}

/**
 * Reads a set and counts the reservation, in one statement: from here on a delete of the set is a soft one. Only a set that may be
 * assigned is counted; what a reservation costs is not visible outside (no revision, no audit).
 */
export const reserveSet = statement<[tenantId: number, id: number], ReservedRow>(
  "management.reserve_set",
  `with counted as (
     update distribution_sets
        set reservations = case when reserved_at > now() - interval '1 minute' then reservations else 0 end + 1, reserved_at = now()
      where tenant_id = $1 and id = $2 and valid and complete and not deleted)
   select s.id, s.name, s.version, s.type_id as "typeId", s.migration_step as "migrationStep", s.revision, s.valid, s.complete, s.deleted,
          s.locked,
          coalesce((select c.value = 'true'::jsonb from settings c where c.tenant_id = $1 and c.key = 'implicit.lock.enabled'), true)
            as "locksOnUse"
     from distribution_sets s where s.tenant_id = $1 and s.id = $2`,
);

/** The assignment has ended: its actions are there, or will never be. */
export const endReservation = statement<[tenantId: number, id: number], unknown>(
  "management.end_reservation",
  "update distribution_sets set reservations = reservations - 1 where tenant_id = $1 and id = $2 and reservations > 0",
);

/** The implicit lock; nobody edited the set, so its audit stays. */
export const lockReservedSet = statement<[tenantId: number, id: number], { revision: number }>(
  "management.lock_reserved_set",
  "update distribution_sets set locked = true, revision = revision + 1 where tenant_id = $1 and id = $2 and not locked returning revision",
);
