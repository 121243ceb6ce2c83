/**
 * Every quota of a tenant with what applies where nothing else is set; 0 or less: no limit (contract management.md §9, §10.3, and
 * extensions.md for the data volume). management keeps what differs and publishes it; each service enforces what is its own.
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
 * How many open actions a target may have side by side, where the tenant allows several (contract rollouts.md §6.9). No quota of its own: they
 * are actions of the target and count there too. controller's function most_open_actions says the same.
 */
export const mostOpenActions = 100;

export type QuotaKey = keyof typeof quotaDefaults;

export const quotaKeys = Object.keys(quotaDefaults) as QuotaKey[];

/** What a limit counts goes with 32 bits everywhere but for bytes; nothing has more digits than JavaScript holds. */
const mostCounted = 2_147_483_647;

/** Can this be the limit? 0 and less is none, and must fit too. */
export function isQuotaLimit(key: QuotaKey, limit: number): boolean {
  return Number.isSafeInteger(limit) && (key.endsWith("_BYTES") || (limit <= mostCounted && limit >= -mostCounted));
}

/** The limits in force for one tenant. */
export type QuotaLimits = { readonly [K in QuotaKey]: number };

export function isQuotaKey(key: string): key is QuotaKey {
  return Object.hasOwn(quotaDefaults, key);
}

/** The defaults with what is stored for the tenant laid over them; keys of a newer version do not count. */
export function quotaLimits(stored: Iterable<{ readonly key: string; readonly value: number }>): QuotaLimits {
  const limits: Record<string, number> = { ...quotaDefaults };
  for (const { key, value } of stored) if (isQuotaKey(key)) limits[key] = value;
  return limits as QuotaLimits;
}

/** Does `count` go beyond the limit? */
export function isOver(limit: number, count: number): boolean {
  return limit > 0 && count > limit;
}
