/**
 * The tenant settings that controller acts on, with what applies where a tenant has stored nothing (contract management.md §8.1).
 * management owns them and publishes what differs.
 */
export const settingDefaults = {
  pollingTime: "00:05:00",
  "repository.actions.autoclose.enabled": false,
} as const satisfies Record<string, string | number | boolean>;

type Widened<T> = T extends string ? string : T extends number ? number : boolean;

export type SettingName = keyof typeof settingDefaults;
export type TenantSettings = { readonly [K in SettingName]: Widened<(typeof settingDefaults)[K]> };

/** The defaults with what is stored laid over them; a stored value of another type does not count. */
export function withDefaults(stored: Iterable<{ key: string; value: unknown }>): TenantSettings {
  const settings: Record<string, unknown> = { ...settingDefaults };
  for (const { key, value } of stored) {
    if (Object.hasOwn(settings, key) && typeof value === typeof settings[key]) settings[key] = value;
  }
  return settings as TenantSettings;
}
