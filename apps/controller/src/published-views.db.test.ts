import { actionStatus } from "@harrier/contracts";
import type { DatabaseService } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture, seedActions, seedTargets } from "./device.fixture.ts";

let fixture: DeviceFixture;
beforeAll(async () => {
  fixture = await deviceFixture();
});
afterAll(() => fixture.close());

// A published view only grows: a column that is missing here must be added at the end, and a column that has vanished is a breaking change.
const views: Record<string, { columns: string; readers: DatabaseService[] }> = {
  targets_v1: {
    columns:
      "tenant_id id controller_id name description address target_type_id created_by created_at last_modified_by last_modified_at " +
      "update_status assigned_set_id installed_set_id installed_at request_attributes last_poll_at revision poll_hour",
    readers: ["management", "rollout-engine"],
  },
  target_attributes_v1: { columns: "tenant_id target_id key value", readers: ["management", "rollout-engine"] },
  target_metadata_v1: { columns: "tenant_id target_id key value", readers: ["management", "rollout-engine"] },
  auto_confirmations_v1: {
    columns: "tenant_id target_id initiator remark created_by activated_at",
    readers: ["management", "rollout-engine"],
  },
  actions_v1: {
    columns:
      "tenant_id id target_id controller_id set_id status active force_type force_time weight rollout_id group_id last_status_code " +
      "initiated_by created_by created_at last_modified_by last_modified_at revision " +
      "maintenance_schedule maintenance_duration maintenance_timezone policy_id tally outcome attempt retry_of retried_by",
    readers: ["management", "rollout-engine"],
  },
  action_statuses_v1: {
    columns: "tenant_id action_id revision status messages code occurred_at reported_at",
    readers: ["management", "rollout-engine"],
  },
  action_messages_v1: { columns: "tenant_id action_id revision messages reported_at", readers: ["management"] },
  group_progress_v1: {
    columns: "tenant_id rollout_id group_id scheduled running finished error cancelled proving silent retrying",
    readers: ["management", "rollout-engine"],
  },
  action_watches_v1: {
    columns: "tenant_id action_id target_id policy_id stage silent since claimed_at evidence_at polls polls_wanted due_at",
    readers: ["management"],
  },
  action_policies_v1: { columns: "tenant_id id body", readers: ["management"] },
  events_v1: { columns: "tenant_id id txid topic type common items traceparent at", readers: ["management"] },
  fleet_changes_v1: { columns: "tenant_id txid id", readers: ["rollout-engine"] },
  rollout_failures_v1: {
    columns: "tenant_id rollout_id key group_id type_id code message others n first_at last_at sample",
    readers: ["rollout-engine"],
  },
  group_changes_v1: { columns: "tenant_id rollout_id group_id txid id", readers: ["management", "rollout-engine"] },
  message_refusals_v1: { columns: "tenant_id kind n last_at last_reason", readers: ["management"] },
  target_counts_v1: { columns: "tenant_id n", readers: ["management"] },
  target_usage_v1: { columns: "tenant_id attributes actions status_entries messages", readers: ["management"] },
  monthly_counts_v1: {
    columns:
      "tenant_id month targets_created targets_deleted targets_found actions_created actions_finished actions_error actions_canceled",
    readers: ["management"],
  },
  monthly_counts_start_v1: { columns: "began_at", readers: ["management"] },
  fleet_counts_v1: { columns: "tenant_id kind key type_id n", readers: ["management"] },
  fleet_walks_v1: { columns: "tenant_id counted_at", readers: ["management"] },
  fleet_days_v1: { columns: "tenant_id kind day key type_id n", readers: ["management"] },
  fleet_day_walks_v1: { columns: "tenant_id day counted_at", readers: ["management"] },
  rollout_progress_v1: { columns: "tenant_id rollout_id minute bucket n", readers: ["rollout-engine"] },
  nodes_v1: { columns: "id service host version started_at seen_at migration outbox_waiting_since jobs", readers: ["management"] },
  artifact_grants_v1: { columns: "tenant_id controller_id action_id set_id active downloadable", readers: ["artifact-store"] },
};

const others: DatabaseService[] = ["management", "rollout-engine", "artifact-store"];

test.each(Object.entries(views))("%s has the columns that others depend on, and only its readers can read it", async (name, view) => {
  const { rows } = await fixture.db.pool.query(
    "select column_name from information_schema.columns where table_schema = 'controller' and table_name = $1 order by ordinal_position",
    [name],
  );
  expect(rows.map((row) => row.column_name).slice(0, view.columns.split(" ").length)).toEqual(view.columns.split(" "));
  for (const service of others) {
    const read = fixture.database.db(service).pool.query(`select * from controller.${name} limit 1`);
    if (view.readers.includes(service)) await expect(read, service).resolves.toBeDefined();
    else await expect(read, service).rejects.toThrow("permission denied");
  }
});

test("no other role reads or writes a table of controller, or calls a function on one", async () => {
  const { rows: tables } = await fixture.db.pool.query("select tablename as name from pg_tables where schemaname = 'controller'");
  expect(tables.length).toBeGreaterThan(15);
  for (const service of others) {
    const { pool } = fixture.database.db(service);
    for (const { name } of tables) {
      await expect(pool.query(`select from controller.${name}`), `${service} ${name}`).rejects.toThrow("permission denied");
    }
    await expect(pool.query("insert into controller.target_attributes_v1 (tenant_id) values (1)")).rejects.toThrow("permission denied");
    await expect(pool.query("select controller.delete_targets(1, 'DEFAULT', array['d1'], null, 'x', null)")).rejects.toThrow();
  }
});

test("no view shows a secret or the digest of one", async () => {
  const { rows } = await fixture.db.pool.query(
    "select c.table_name from information_schema.columns c join pg_views v on v.viewname = c.table_name and v.schemaname = c.table_schema " +
      "where c.table_schema = 'controller' and (c.data_type = 'bytea' or c.column_name ~ 'token|secret|cipher|digest')",
  );
  expect(rows).toEqual([]);
});

test("artifacts are granted for open actions that are not being cancelled, and for installed ones", async () => {
  await seedTargets(fixture, [{ id: 1, installedSetId: 100, installedActionId: 11 }, { id: 2 }]);
  await seedActions(fixture, [
    { id: 11, targetId: 1, setId: 100, status: actionStatus.FINISHED, active: false },
    { id: 12, targetId: 1, setId: 101 },
    { id: 13, targetId: 1, setId: 102, status: actionStatus.CANCELING },
    { id: 14, targetId: 1, setId: 103, status: actionStatus.SCHEDULED, active: false },
    { id: 15, targetId: 1, setId: 104, status: actionStatus.ERROR, active: false },
    { id: 16, targetId: 2, setId: 101, status: actionStatus.WAIT_FOR_CONFIRMATION },
  ]);
  const { rows } = await fixture.database
    .db("artifact-store")
    .pool.query("select controller_id, action_id, set_id, active, downloadable from controller.artifact_grants_v1 order by action_id");
  expect(rows).toEqual([
    { controller_id: "d1", action_id: 11, set_id: 100, active: false, downloadable: true },
    { controller_id: "d1", action_id: 12, set_id: 101, active: true, downloadable: true },
    { controller_id: "d2", action_id: 16, set_id: 101, active: true, downloadable: true },
  ]);
});
