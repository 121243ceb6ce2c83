import { type Queryable, run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { settingDefaults, type TenantSettings, withDefaults } from "./defaults.ts";
import { readAllQuotas, readAllSettings, readSettingsRevision } from "./tenant-settings.sql.ts";

export type { TenantSettings } from "./defaults.ts";

/** The settings and quotas of all tenants in memory, so that a poll or a report needs no round trip for them. */
export interface TenantSettingsCache {
  /** Throws `unavailable` until the settings have been read once. */
  get(tenantId: number): TenantSettings;
  /** Those of every tenant that has stored any. */
  all(): ReadonlyMap<number, TenantSettings>;
  /** True once they have been read: part of the service's readiness. */
  ready(): boolean;
  /** Looks for changes once. */
  refresh(): Promise<void>;
  /** Looks for changes about twice a second until stopped. Does not wait for management's schema to be there. */
  start(): void;
  stop(): void;
}

export interface TenantSettingsDeps {
  pool: Queryable;
  log: { warn(fields: object, message: string): void };
  /** Default 500 ms. */
  everyMs?: number;
}

const keys = Object.keys(settingDefaults);
const untouched = withDefaults([]);

export function createTenantSettings(deps: TenantSettingsDeps): TenantSettingsCache {
  let revision: string | undefined;
  let byTenant: ReadonlyMap<number, TenantSettings> = new Map();
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let failing = false;

  async function refresh(): Promise<void> {
    // the revision first: a change between the two reads is then seen again, not missed
    const now = await runOne(deps.pool, readSettingsRevision, [keys]);
    if (now === undefined || now.revision === revision) return;
    const [stored, quotas] = await Promise.all([run(deps.pool, readAllSettings, [keys]), run(deps.pool, readAllQuotas, [])]);
    byTenant = group(stored, quotas);
    revision = now.revision;
  }

  async function watch(): Promise<void> {
    try {
      await refresh();
      failing = false;
    } catch (err) {
      // once per outage: what is in memory goes on to apply
      if (!failing) deps.log.warn({ err }, "tenant settings could not be read");
      failing = true;
    }
    if (running) timer = setTimeout(watch, deps.everyMs ?? 500);
  }

  return {
    get(tenantId) {
      if (revision === undefined) throw new HarrierError("unavailable");
      return byTenant.get(tenantId) ?? untouched;
    },
    all: () => byTenant,
    ready: () => revision !== undefined,
    refresh,
    start() {
      if (running) return;
      running = true;
      void watch();
    },
    stop() {
      running = false;
      clearTimeout(timer);
    },
  };
}

type Stored<T> = readonly { tenantId: number; key: string; value: T }[];

function group(settings: Stored<unknown>, quotas: Stored<number>): Map<number, TenantSettings> {
  const settingsOf = Map.groupBy(settings, (row) => row.tenantId);
  const quotasOf = Map.groupBy(quotas, (row) => row.tenantId);
  const tenants = new Set([...settingsOf.keys(), ...quotasOf.keys()]);
  return new Map([...tenants].map((tenantId) => [tenantId, withDefaults(settingsOf.get(tenantId) ?? [], quotasOf.get(tenantId))]));
}
