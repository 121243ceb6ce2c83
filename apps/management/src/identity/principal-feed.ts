import { type Queryable, run } from "@harrier/db";
import { ChangeFeed } from "@harrier/jobs";
import type { WatchPrincipalChangesResponse } from "@harrier/rpc";
import { readPrincipalChanges } from "./principal-feed.sql.ts";

export type PrincipalFeed = ChangeFeed<WatchPrincipalChangesResponse>;

/** Reads the log of changed users, clients and tenants that gateways must forget, for all subscribed gateways (architecture §2). */
export function createPrincipalFeed(db: Queryable, onNeeded: () => void = () => {}): PrincipalFeed {
  const read = async (since: string | null) => {
    const rows = await run(db, readPrincipalChanges, [since]);
    const messages = rows.flatMap(({ tenantId, tenant, userId, txid }) =>
      tenantId === null ? [] : [{ heartbeat: false, tenantId, userId: userId ?? 0, revision: txid ?? 0, tenant: tenant ?? "" }],
    );
    return { snapshot: rows[0]?.snapshot ?? since, messages };
  };
  return new ChangeFeed({ read, heartbeat: { heartbeat: true, tenantId: 0, userId: 0, revision: 0, tenant: "" }, onNeeded });
}
