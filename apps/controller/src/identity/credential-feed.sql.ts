import { statement } from "@harrier/db";
import { settingsRevision } from "../settings/tenant-settings.sql.ts";

export interface ChangeRow {
  /** The snapshot is read with the rows: the next poll begins here. */
  snapshot: string;
  /** It is null in the one row that comes when nothing has changed. */
  tenantId: number | null;
  tenant: string | null;
  controllerId: string | null;
  txid: number | null;
  /** The revision of the tenants' settings (`settingsRevision`), because whoever looks for changed credentials looks for these as well. */
  settings: string;
}

/**
 * Reads what has become visible in either log since the given snapshot ($1; null: nothing yet, begin now). It goes by visibility, not by order: a log
 * read in order waits for the oldest running transaction, and a revoked credential must not stay valid because a backup runs.
 */
export const readCredentialChanges = statement<[since: string | null, settingNames: readonly string[]], ChangeRow>(
  "controller.read_credential_changes",
  `select pg_current_snapshot()::text as snapshot, c.tenant_id as "tenantId", n.name as tenant, c.controller_id as "controllerId",
          c.txid::text::bigint as txid, (${settingsRevision("$2::text[]")}) as settings
     from (values (1)) as always(one)
     left join (
       select tenant_id, controller_id, txid from credential_changes
        where txid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(txid, $1::pg_snapshot)
       union all
       select tenant_id, null, txid from management.credential_changes_v1
        where txid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(txid, $1::pg_snapshot)) c on true
     left join management.tenants_v1 n on n.tenant_id = c.tenant_id`,
);
