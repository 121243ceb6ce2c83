import { actionStatus, forceType, quotaDefaults, updateStatus } from "@harrier/contracts";
import { createDatabase, createSecretBox, type Database, IdBlocks } from "@harrier/db";
import { type RoundTripCounter, startRoundTripCounter, type TestDatabase, testDatabase } from "@harrier/testkit";
import type { Device } from "./device.ts";
import type { LimitsOf } from "./domain/quotas.ts";
import { createReportRecorder, type RecordReport } from "./feedback/record-report.ts";
import type { ReportDeps } from "./feedback/report.ts";
import { createRetrievalRecorder, type RecordRetrieval } from "./retrieval/record-retrieval.ts";

export const tenantId = 1;

/** No tenant has set any limit. */
export const defaultLimits: LimitsOf = () => quotaDefaults;

/** A database as controller's own role sees it, with every round trip of `db` counted; `db.pool` has one connection more than a race needs. */
export interface DeviceFixture {
  database: TestDatabase;
  db: Database;
  roundTrips: RoundTripCounter;
  ids: IdBlocks;
  secrets: ReturnType<typeof createSecretBox>;
  limits: LimitsOf;
  recordReport: RecordReport;
  recordRetrieval: RecordRetrieval;
  close(): Promise<void>;
}

export async function deviceFixture(): Promise<DeviceFixture> {
  const database = await testDatabase();
  const roundTrips = await startRoundTripCounter(database.adminUrl);
  const db = createDatabase({ url: roundTrips.through(database.urlOf("controller")), applicationName: "test", max: 4 });
  return {
    database,
    db,
    roundTrips,
    ids: new IdBlocks(database.db("controller").pool),
    limits: defaultLimits,
    recordReport: createReportRecorder(db.pool),
    recordRetrieval: createRetrievalRecorder(db.pool),
    secrets: createSecretBox(Buffer.alloc(32, 7).toString("base64")),
    async close() {
      await db.close();
      await roundTrips.close();
      await database.drop();
    },
  };
}

/** What a report of a device needs, with the clock of the test. */
export const reportDeps = ({ recordReport, limits }: DeviceFixture, now = Date.now): ReportDeps => ({
  recordReport,
  limits,
  now,
  fault: () => undefined,
});

export function deviceNamed(controllerId: string): Device {
  return {
    tenantId,
    tenant: "DEFAULT",
    controllerId,
    traceparent: null,
    base: "http://ota.example",
    tenantPath: "default",
    controllerPath: encodeURIComponent(controllerId),
  };
}

export interface TargetSeed {
  id: number;
  controllerId?: string;
  updateStatus?: number;
  assignedSetId?: number | null;
  installedSetId?: number | null;
  installedActionId?: number | null;
  requestAttributes?: boolean;
}

/** Stores targets with their state. */
export async function seedTargets(fixture: DeviceFixture, seeds: readonly TargetSeed[]): Promise<void> {
  await fixture.database.db("controller").pool.query(
    `with seed as (select * from jsonb_to_recordset($2::jsonb) as x(
         "id" int, "controllerId" text, "updateStatus" smallint, "assignedSetId" bigint, "installedSetId" bigint, "installedActionId" bigint,
         "requestAttributes" boolean)),
       t as (insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
             select $1, "id", coalesce("controllerId", 'd' || "id"), 'd' || "id", '', '', 'admin', 'admin' from seed)
     insert into target_state (tenant_id, target_id, update_status, assigned_set_id, installed_set_id, installed_action_id, request_attributes)
     select $1, "id", coalesce("updateStatus", ${updateStatus.registered}), "assignedSetId", "installedSetId", "installedActionId",
            coalesce("requestAttributes", false) from seed`,
    [tenantId, JSON.stringify(seeds)],
  );
}

export interface ActionSeed {
  id: number;
  targetId: number;
  setId?: number;
  status?: number;
  active?: boolean;
  forceType?: number;
  forceTime?: string;
  weight?: number;
  revision?: number;
  rolloutId?: number;
  groupId?: number;
  maintenance?: { schedule: string; duration: string; timezone: string; endsAt?: string };
  multiAssignment?: boolean;
}

/** Stores actions, each with the history row of its newest revision. */
export async function seedActions(fixture: DeviceFixture, seeds: readonly ActionSeed[]): Promise<void> {
  await fixture.database.db("controller").pool.query(
    `with seed as (select * from jsonb_to_recordset($2::jsonb) as x(
         "id" bigint, "targetId" int, "setId" bigint, "status" smallint, "active" boolean, "forceType" smallint, "forceTime" timestamptz,
         "weight" int, "revision" int, "rolloutId" bigint, "groupId" bigint, "maintenance" jsonb, "multiAssignment" boolean)),
       a as (insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, revision,
                                  rollout_id, group_id, maintenance_schedule, maintenance_duration, maintenance_timezone,
                                  maintenance_ends_at, multi_assignment, initiated_by, created_by, last_modified_by)
             select $1, s."id", s."targetId", t.controller_id, coalesce("setId", 100), coalesce("status", ${actionStatus.RUNNING}),
                    coalesce("active", true), coalesce("forceType", ${forceType.forced}), "forceTime", coalesce("weight", 1000),
                    coalesce(s."revision", 1), "rolloutId", "groupId", maintenance ->> 'schedule', maintenance ->> 'duration',
                    maintenance ->> 'timezone', (maintenance ->> 'endsAt')::timestamptz,
                    coalesce("multiAssignment", false), 'admin', 'admin', 'admin'
               from seed s join targets t on t.tenant_id = $1 and t.id = s."targetId"
             returning id, status, revision)
     insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
     select $1, id, revision, status, array['Assignment initiated by user ''admin'''], now() from a`,
    [tenantId, JSON.stringify(seeds)],
  );
}

/** Stores a set with one module of the given type and its artifacts, in management's schema. */
export async function seedSet(
  fixture: DeviceFixture,
  seed: { id: number; moduleType?: string; artifacts?: string[]; metadata?: Record<string, string>; modules?: number },
): Promise<void> {
  const { pool } = fixture.database.db("management");
  const by = "'admin', 'admin'";
  const moduleId = seed.id + 1_000;
  const type = seed.moduleType ?? "os";
  await pool.query(
    `insert into tenants (tenant_id, name, default_set_type_id) values (1, 'DEFAULT', 1) on conflict do nothing;
     insert into distribution_set_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 1, 'os', 'os', ${by}) on conflict do nothing;
     insert into distribution_sets (tenant_id, id, type_id, name, version, complete, created_by, last_modified_by)
     values (1, ${seed.id}, 1, 'set ${seed.id}', '1.0', true, ${by});`,
  );
  if (seed.modules === 0) return;
  await pool.query(
    `insert into software_module_types (tenant_id, id, key, name, max_assignments, created_by, last_modified_by)
     values (1, ${moduleId}, '${type}', '${type}', 1, ${by}) on conflict do nothing;
     insert into software_modules (tenant_id, id, type_id, name, version, created_by, last_modified_by)
     select 1, ${moduleId}, id, 'module ${moduleId}', '2.0', ${by} from software_module_types where key = '${type}';
     insert into set_modules (tenant_id, set_id, module_id, position) values (1, ${seed.id}, ${moduleId}, 0);`,
  );
  for (const [place, filename] of (seed.artifacts ?? []).entries()) {
    await pool.query(
      `insert into artifacts (tenant_id, id, module_id, filename, size, sha1, md5, sha256, created_by, last_modified_by)
       values (1, $1, $2, $3, $4, 'sha1', 'md5', 'sha256', ${by})`,
      [moduleId * 10 + place, moduleId, filename, 1_000 + place],
    );
  }
  for (const [key, value] of Object.entries(seed.metadata ?? {})) {
    await pool.query("insert into module_metadata (tenant_id, module_id, key, value, target_visible) values (1, $1, $2, $3, true)", [
      moduleId,
      key,
      value,
    ]);
  }
}

export interface StoredAction {
  status: number;
  active: boolean;
  revision: number;
  lastStatusCode: number | null;
}

export async function readAction(fixture: DeviceFixture, id: number): Promise<StoredAction> {
  const { rows } = await fixture.database
    .db("controller")
    .pool.query('select status, active, revision, last_status_code as "lastStatusCode" from actions where tenant_id = 1 and id = $1', [id]);
  return rows[0];
}

export interface StoredTarget {
  updateStatus: number;
  assignedSetId: number | null;
  installedSetId: number | null;
  installedActionId: number | null;
  requestAttributes: boolean;
}

export async function readTarget(fixture: DeviceFixture, id: number): Promise<StoredTarget> {
  const { rows } = await fixture.database.db("controller").pool.query(
    `select update_status as "updateStatus", assigned_set_id as "assignedSetId", installed_set_id as "installedSetId",
            installed_action_id as "installedActionId", request_attributes as "requestAttributes"
       from target_state where tenant_id = 1 and target_id = $1`,
    [id],
  );
  return rows[0];
}

export interface StoredEntry {
  revision: number;
  status: number;
  messages: string[];
  code: number | null;
  occurredAt: number;
}

export async function readHistory(fixture: DeviceFixture, actionId: number): Promise<StoredEntry[]> {
  const { rows } = await fixture.database.db("controller").pool.query(
    `select revision, status, messages, code, (extract(epoch from occurred_at) * 1000)::bigint as "occurredAt"
       from action_statuses_v1 where tenant_id = 1 and action_id = $1 order by revision`,
    [actionId],
  );
  return rows;
}

/** Reads the outbox so far, in order. */
export async function readOutbox(
  fixture: DeviceFixture,
): Promise<{ topic: string; type: string; common: unknown; items: unknown[]; traceparent: string | null }[]> {
  const { rows } = await fixture.database
    .db("controller")
    .pool.query("select topic, type, common, items, traceparent from outbox order by id");
  return rows;
}
