import { statement } from "@harrier/db";

export interface PrincipalChangeRow {
  /** The snapshot is read with the rows: the next poll begins here. */
  snapshot: string;
  /** The tenant is null in the one row that comes when nothing has changed. */
  tenantId: number | null;
  tenant: string | null;
  /** Null means everybody of the tenant. */
  userId: number | null;
  txid: number | null;
}

/**
 * Reads what has become visible since the given snapshot ($1; null means that nothing was read yet, and the feed begins now). It goes by
 * visibility, not by order: a log read in order waits for the oldest running transaction, and a changed password must not stay valid
 * because a long one runs.
 */
export const readPrincipalChanges = statement<[since: string | null], PrincipalChangeRow>(
  "management.read_principal_changes",
  `select pg_current_snapshot()::text as snapshot, c.tenant_id as "tenantId", n.name as tenant, c.user_id as "userId",
          c.txid::text::bigint as txid
     from (values (1)) as always(one)
     left join credential_changes c
       on c.txid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(c.txid, $1::pg_snapshot)
     left join tenants n on n.tenant_id = c.tenant_id`,
);
