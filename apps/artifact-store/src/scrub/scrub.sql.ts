import { statement } from "@harrier/db";

export interface StoredBlob {
  readonly tenantId: number;
  readonly sha256: string;
  readonly size: number;
}

/** Lists the blobs of all tenants that can be served, behind the one that is named, in the order of their keys. */
export const listStored = statement<[afterTenant: number, afterSha256: string, limit: number], StoredBlob>(
  "artifact_store.list_stored",
  `select tenant_id as "tenantId", sha256, size from blobs
    where state = 'stored' and (tenant_id, sha256) > ($1, $2) order by tenant_id, sha256 limit $3`,
);
