import { type Queryable, run } from "@harrier/db";
import { ChangeFeed } from "@harrier/jobs";
import type { WatchCredentialChangesResponse } from "@harrier/rpc";
import { settingNames } from "../settings/defaults.ts";
import { readCredentialChanges } from "./credential-feed.sql.ts";

export type CredentialFeed = ChangeFeed<WatchCredentialChangesResponse>;

/**
 * Reads both logs of what gateways must evict about devices (own targets; tenants and settings of management), for all subscribed gateways
 * (architecture §2), and tells the revision of the tenants' settings, which costs no question of its own in this way. Until both logs can be read there is no heartbeat, so no gateway trusts its cache.
 */
export function createCredentialFeed(
  db: Queryable,
  onSettings: (revision: string) => void = () => {},
  onNeeded: () => void = () => {},
): CredentialFeed {
  const read = async (since: string | null) => {
    const rows = await run(db, readCredentialChanges, [since, settingNames]);
    if (rows[0] !== undefined) onSettings(rows[0].settings);
    const messages = rows.flatMap(({ tenantId, tenant, controllerId, txid }) =>
      tenantId === null || txid === null
        ? []
        : [{ heartbeat: false, tenantId, tenant: tenant ?? "", controllerId: controllerId ?? "", revision: txid }],
    );
    return { snapshot: rows[0]?.snapshot ?? since, messages };
  };
  return new ChangeFeed({ read, heartbeat: { heartbeat: true, tenantId: 0, controllerId: "", revision: 0, tenant: "" }, onNeeded });
}
