import { type Queryable, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { settingNames, type TenantSettings, withDefaults } from "./defaults.ts";
import { readAllSettings, readSettingsRevision, type StoredValue } from "./tenant-settings.sql.ts";

export type { TenantSettings } from "./defaults.ts";

/** Caches the settings and quotas of all tenants, so that a poll or a report needs no round trip for them. */
export interface TenantSettingsCache {
  /** Throws `unavailable` until the settings have been read once. */
  get(tenantId: number): TenantSettings;
  /** Returns those of every tenant that has stored any. */
  all(): ReadonlyMap<number, TenantSettings>;
  /** True once they have been read: it is part of the service's readiness. */
  ready(): boolean;
  /** Whether this is the revision of what is cached; another one means that `refresh` would find a change. */
  isAt(revision: string): boolean;
  /** Reads changes; where they cannot be read, the present values stay in effect. */
  refresh(): Promise<void>;
}

export interface TenantSettingsDeps {
  pool: Queryable;
}

const untouched = withDefaults([]);

export function createTenantSettings(deps: TenantSettingsDeps): TenantSettingsCache {
  let revision: string | undefined;
  let byTenant: ReadonlyMap<number, TenantSettings> = new Map();

  async function refresh(): Promise<void> {
    const now = await runOne(deps.pool, readSettingsRevision, [settingNames]);
    if (now === undefined || now.revision === revision) return;
    const stored = await runOne(deps.pool, readAllSettings, [settingNames]);
    if (stored === undefined) return;
    byTenant = group(stored.settings, stored.quotas);
    revision = stored.revision;
  }

  return {
    get(tenantId) {
      if (revision === undefined) throw new HarrierError("unavailable");
      return byTenant.get(tenantId) ?? untouched;
    },
    all: () => byTenant,
    ready: () => revision !== undefined,
    isAt: (other) => other === revision,
    refresh,
  };
}

function group(settings: StoredValue<unknown>[], quotas: StoredValue<number>[]): Map<number, TenantSettings> {
  const settingsOf = Map.groupBy(settings, (row) => row.tenantId);
  const quotasOf = Map.groupBy(quotas, (row) => row.tenantId);
  const tenants = new Set([...settingsOf.keys(), ...quotasOf.keys()]);
  return new Map([...tenants].map((tenantId) => [tenantId, withDefaults(settingsOf.get(tenantId) ?? [], quotasOf.get(tenantId))]));
}
