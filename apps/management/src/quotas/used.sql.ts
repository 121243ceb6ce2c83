import type { QuotaKey } from "@harrier/contracts";
import { statement } from "@harrier/db";

/** Counts the rows of each owner and returns the highest count. */
const maxPer = (owner: string, table: string): string =>
  `(select max(o.n) from (select count(*) as n from ${table} x where x.tenant_id = $1 group by x.${owner}) o)`;

/** Reads one member of what controller has counted of its targets (`target_usage_v1`: a scan in the background, not a count of all of them). */
const ofTargets = (member: string): string => `(select u.${member} from controller.target_usage_v1 u where u.tenant_id = $1)`;

/** Limits of single requests (items of an assignment, targets that a filter matches when its set is chosen) have no lasting use. */
const nothing = "0";

/**
 * Returns what the tenant $1 uses of each quota (contract management.md §10.3): of the whole tenant where such a number exists, else the
 * highest use of any single owner. It reads counters and small tables by key; nothing here grows with the number of targets.
 */
const used: Readonly<Record<QuotaKey, string>> = {
  TARGETS_MAX_COUNT: "(select c.n from controller.target_counts_v1 c where c.tenant_id = $1)",
  ARTIFACT_STORAGE_MAX_BYTES: "(select t.artifact_bytes from tenants t where t.tenant_id = $1)",
  ARTIFACT_MAX_BYTES: "(select max(a.size) from artifacts a where a.tenant_id = $1)",
  ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT: maxPer("module_id", "artifacts"),
  SOFTWARE_MODULES_PER_DISTRIBUTION_SET_MAX_COUNT: maxPer("set_id", "set_modules"),
  SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT: maxPer("set_type_id", "set_type_module_types"),
  DISTRIBUTION_SET_TYPES_PER_TARGET_TYPE_MAX_COUNT: maxPer("target_type_id", "target_type_set_types"),
  // A scan of management itself counts these, see metadata-walk.sql.ts.
  METADATA_PER_TARGET_MAX_COUNT: "(select greatest(u.largest, u.so_far) from target_metadata_usage u where u.tenant_id = $1)",
  METADATA_PER_DISTRIBUTION_SET_MAX_COUNT: maxPer("set_id", "set_metadata"),
  METADATA_PER_SOFTWARE_MODULE_MAX_COUNT: maxPer("module_id", "module_metadata"),
  ATTRIBUTES_PER_TARGET_MAX_COUNT: ofTargets("attributes"),
  ACTIONS_PER_TARGET_MAX_COUNT: ofTargets("actions"),
  STATUS_ENTRIES_PER_ACTION_MAX_COUNT: ofTargets("status_entries"),
  MESSAGES_PER_STATUS_MAX_COUNT: ofTargets("messages"),
  ASSIGNMENTS_PER_REQUEST_MAX_COUNT: nothing,
  TARGETS_PER_AUTO_ASSIGNMENT_MAX_COUNT: nothing,
  ROLLOUT_GROUPS_PER_ROLLOUT_MAX_COUNT: maxPer("rollout_id", "rollout_engine.rollout_groups_v1"),
  TARGETS_PER_ROLLOUT_GROUP_MAX_COUNT: "(select max(g.total_targets) from rollout_engine.rollout_groups_v1 g where g.tenant_id = $1)",
  DSI_API_KEYS_MAX_COUNT: "(select count(*) from api_keys k where k.tenant_id = $1)",
  DATA_TRAFFIC_PER_MONTH_MAX_BYTES: `(select d.bytes from artifact_store.data_traffic_v1 d
     where d.tenant_id = $1 and d.month = date_trunc('month', now() at time zone 'UTC')::date)`,
};

export interface QuotaRow {
  key: string;
  used: number;
  /** This is null together with the audit members: the limit is the default. */
  limit: number | null;
  createdBy: string | null;
  createdAt: number | null;
  lastModifiedBy: string | null;
  lastModifiedAt: number | null;
}

// The usage is a scalar sub-query of a CASE, so that reading one key costs only the count of that key.
const usedOf = Object.entries(used)
  .map(([key, sql]) => `when '${key}' then ${sql}`)
  .join("\n            ");

/** Reads the quotas of these keys in one round trip. */
export const readQuotas = statement<[tenantId: number, keys: readonly string[]], QuotaRow>(
  "management.read_quotas",
  `select k.key, q.value as limit,
          coalesce(case k.key
            ${usedOf} end, 0)::bigint as used,
          q.created_by as "createdBy", floor(extract(epoch from q.created_at) * 1000)::bigint as "createdAt",
          q.last_modified_by as "lastModifiedBy", floor(extract(epoch from q.last_modified_at) * 1000)::bigint as "lastModifiedAt"
     from unnest($2::text[]) with ordinality as k (key, place)
     left join quotas q on q.tenant_id = $1 and q.key = k.key
    order by k.place`,
);
