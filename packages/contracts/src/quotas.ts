/**
 * Every quota of a tenant with its default; 0 or less stands for no limit (contract management.md §9, §10.3, and extensions.md for the data
 * volume). management stores and publishes what differs; each service enforces its own quotas.
 */
export const quotaDefaults = {
  TARGETS_MAX_COUNT: 0,
  ARTIFACT_STORAGE_MAX_BYTES: 21_474_836_480,
  ARTIFACT_MAX_BYTES: 1_073_741_824,
  ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT: 50,
  SOFTWARE_MODULES_PER_DISTRIBUTION_SET_MAX_COUNT: 100,
  SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT: 50,
  DISTRIBUTION_SET_TYPES_PER_TARGET_TYPE_MAX_COUNT: 50,
  METADATA_PER_TARGET_MAX_COUNT: 100,
  METADATA_PER_DISTRIBUTION_SET_MAX_COUNT: 100,
  METADATA_PER_SOFTWARE_MODULE_MAX_COUNT: 100,
  ATTRIBUTES_PER_TARGET_MAX_COUNT: 100,
  ACTIONS_PER_TARGET_MAX_COUNT: 2_000,
  STATUS_ENTRIES_PER_ACTION_MAX_COUNT: 1_000,
  MESSAGES_PER_STATUS_MAX_COUNT: 50,
  ASSIGNMENTS_PER_REQUEST_MAX_COUNT: 5_000,
  TARGETS_PER_AUTO_ASSIGNMENT_MAX_COUNT: 20_000,
  ROLLOUT_GROUPS_PER_ROLLOUT_MAX_COUNT: 500,
  TARGETS_PER_ROLLOUT_GROUP_MAX_COUNT: 20_000,
  DSI_API_KEYS_MAX_COUNT: 2,
  DATA_TRAFFIC_PER_MONTH_MAX_BYTES: 0,
} as const satisfies Record<string, number>;

/**
 * A target may have at most so many open actions at a time, if the tenant allows several (contract rollouts.md §6.9). This is no quota of its own:
 * they count as actions of the target too. controller's function max_open_actions has the same number.
 */
export const maxOpenActions = 100;

export type QuotaKey = keyof typeof quotaDefaults;

export const quotaKeys = Object.keys(quotaDefaults) as QuotaKey[];

/** Counts have 32 bits everywhere, except bytes; no number has more digits than JavaScript can hold. */
const maxCounted = 2_147_483_647;

/** Whether this can be the limit. A limit of 0 or less means none, and must fit too. */
export function isQuotaLimit(key: QuotaKey, limit: number): boolean {
  return Number.isSafeInteger(limit) && (key.endsWith("_BYTES") || (limit <= maxCounted && limit >= -maxCounted));
}

/** The limits that apply to one tenant. */
export type QuotaLimits = { readonly [K in QuotaKey]: number };

export function isQuotaKey(key: string): key is QuotaKey {
  return Object.hasOwn(quotaDefaults, key);
}

/** Answers the defaults overridden by what is stored for the tenant; keys of a newer version are ignored. */
export function quotaLimits(stored: Iterable<{ readonly key: string; readonly value: number }>): QuotaLimits {
  const limits: Record<string, number> = { ...quotaDefaults };
  for (const { key, value } of stored) if (isQuotaKey(key)) limits[key] = value;
  return limits as QuotaLimits;
}

/** Whether `count` exceeds the limit. */
export function isOver(limit: number, count: number): boolean {
  return limit > 0 && count > limit;
}
