import { statement } from "@harrier/db";

export interface OperationRow {
  tenantId: number;
  tenant: string;
  id: number;
  payload: { artifactId: number; sha256: string };
  attempts: number;
}

/**
 * Claims operations that are due. The due time moves ahead at once: it is a lease that ends by itself when the replica dies, and no
 * transaction stays open while another service is asked.
 */
export const takeDueReleases = statement<[max: number, leaseSeconds: number], OperationRow>(
  "management.take_due_releases",
  `with due as (
     select tenant_id, id from operations where kind = 'release-artifact' and due_at <= now()
      order by due_at limit $1 for update skip locked)
   update operations o set due_at = now() + make_interval(secs => $2), attempts = o.attempts + 1
     from due d join tenants t on t.tenant_id = d.tenant_id
    where o.tenant_id = d.tenant_id and o.id = d.id
   returning o.tenant_id as "tenantId", t.name as tenant, o.id, o.payload, o.attempts`,
);

/** Deletes operations that their owner has acknowledged. */
export const finishOperations = statement<[tenantIds: number[], ids: number[]], unknown>(
  "management.finish_operations",
  `delete from operations o using unnest($1::int[], $2::bigint[]) as d (tenant_id, id)
    where o.tenant_id = d.tenant_id and o.id = d.id`,
);

/** Records a failure; it is retried after 1, 2, 4 … seconds, at most after two minutes. */
export const postponeOperation = statement<[tenantId: number, id: number, error: string], unknown>(
  "management.postpone_operation",
  `update operations
      set due_at = now() + make_interval(secs => least(120, power(2, least(attempts, 7) - 1))), last_error = left($3, 500)
    where tenant_id = $1 and id = $2`,
);
