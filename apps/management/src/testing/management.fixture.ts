import type { QuotaKey } from "@harrier/contracts";
import { createDatabase, createSecretBox, type Database, IdBlocks } from "@harrier/db";
import { type RoundTripCounter, startRoundTripCounter, type TestDatabase, testDatabase } from "@harrier/testkit";
import { ensureDefaultTenant } from "../tenants/seed-tenant.ts";

/** This is a database of all services, used with management's own role, with the tenant DEFAULT. */
export interface Fixture {
  database: TestDatabase;
  /** These are management's own connections, which pass the round-trip counter. */
  db: Database;
  roundTrips: RoundTripCounter;
  ids: IdBlocks;
  secrets: ReturnType<typeof createSecretBox>;
  tenantId: number;
  actor: { tenantId: number; subject: string };
  /** Writes rows of another service with that service's role. */
  asController(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  asRolloutEngine(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Writes rows of management's own tables. */
  rows(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Sets a limit of the tenant; null restores the default. */
  setQuota(key: QuotaKey, value: number | null): Promise<void>;
  addTarget(controllerId: string, members?: { typeId?: number; assignedSetId?: number; installedSetId?: number }): Promise<number>;
  /** Adds the targets `<prefix>-1` and so on, all named `<prefix>`, with ids behind `first`. */
  addFleet(prefix: string, count: number, first: number, typeId?: number): Promise<void>;
  addAction(members: {
    targetId: number;
    controllerId: string;
    setId: number;
    rolloutId?: number;
    status?: number;
    active?: boolean;
  }): Promise<number>;
  close(): Promise<void>;
}

export async function managementFixture(): Promise<Fixture> {
  const database = await testDatabase();
  const roundTrips = await startRoundTripCounter(database.adminUrl);
  const db = createDatabase({ url: roundTrips.through(database.urlOf("management")), applicationName: "test/management", max: 5 });
  const { tenantId } = await ensureDefaultTenant({ db: db.pool }, "DEFAULT");
  const as =
    (service: "controller" | "rollout-engine") =>
    async (sql: string, values: unknown[] = []) =>
      (await database.db(service).pool.query(sql, values)).rows as Record<string, unknown>[];
  const asController = as("controller");
  let nextTarget = 100;
  let nextAction = 1000;
  return {
    database,
    db,
    roundTrips,
    ids: new IdBlocks(db.pool),
    secrets: createSecretBox(Buffer.alloc(32, 7).toString("base64")),
    tenantId,
    actor: { tenantId, subject: "admin" },
    asController,
    asRolloutEngine: as("rollout-engine"),
    rows: async (sql, values = []) => (await db.pool.query(sql, values)).rows as Record<string, unknown>[],
    async setQuota(key, value) {
      await db.pool.query("delete from quotas where tenant_id = $1 and key = $2", [tenantId, key]);
      if (value === null) return;
      const insert = "insert into quotas (tenant_id, key, value, created_by, last_modified_by) values ($1, $2, $3, 'operator', 'operator')";
      await db.pool.query(insert, [tenantId, key, value]);
    },
    async addTarget(controllerId, { typeId, assignedSetId, installedSetId } = {}) {
      const id = nextTarget++;
      await asController(
        `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_type_id, created_by, last_modified_by)
         values ($1, $2, $3, 'name of ' || $3, '', '', $4, 'test', 'test')`,
        [tenantId, id, controllerId, typeId ?? null],
      );
      await asController("insert into target_state (tenant_id, target_id, assigned_set_id, installed_set_id) values ($1, $2, $3, $4)", [
        tenantId,
        id,
        assignedSetId ?? null,
        installedSetId ?? null,
      ]);
      return id;
    },
    async addFleet(prefix, count, first, typeId) {
      await asController(
        `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_type_id, created_by, last_modified_by)
         select 1, $3 + n, $1 || '-' || n, $1, '', '', $4, 'test', 'test' from generate_series(1, $2::int) n`,
        [prefix, count, first, typeId ?? null],
      );
      const state = "insert into target_state (tenant_id, target_id) select 1, $2 + n from generate_series(1, $1::int) n";
      await asController(state, [count, first]);
    },
    async addAction({ targetId, controllerId, setId, rolloutId, status = 3, active = true }) {
      const id = nextAction++;
      await asController(
        `insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, rollout_id, initiated_by, created_by,
                              last_modified_by)
         values ($1, $2, $3, $4, $5, $6, $7, 1, $8, 'admin', 'admin', 'admin')`,
        [tenantId, id, targetId, controllerId, setId, status, active, rolloutId ?? null],
      );
      await asController(
        `insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
         values ($1, $2, 1, $3, '{"Assignment initiated by user ''admin''"}', now())`,
        [tenantId, id, status],
      );
      return id;
    },
    async close() {
      await db.close();
      await roundTrips.close();
      await database.drop();
    },
  };
}
