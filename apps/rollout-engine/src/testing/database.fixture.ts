import { type RolloutCreate, rolloutCreateBody } from "@harrier/contracts";
import { IdBlocks } from "@harrier/db";
import type { OutCall } from "@harrier/rpc";
import { type TestDatabase, testDatabase, withClient } from "@harrier/testkit";
import type { CreateDeps } from "../rollouts/create-rollout.ts";

/** A database with one tenant and one set, and functions to fill it. It runs as the role harrier_rollout_engine. */
export interface Fixture {
  readonly database: TestDatabase;
  readonly create: CreateDeps;
  readonly call: OutCall;
  /** These sets were reserved. */
  readonly reserved: number[];
  /** Adds targets `<prefix>-1 … <prefix>-n`, with consecutive ids. */
  addTargets(prefix: string, n: number, over?: { typeId?: number }): Promise<void>;
  /** Runs any statement as the superuser, to prepare data or to read base tables. */
  sql<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

export const setIds = { complete: 101, invalid: 102, incomplete: 103, deleted: 104 };
export const typeIds = { compatible: 201, incompatible: 202 };
const setTypeId = 301;

const arrange = `
  insert into management.tenants (tenant_id, name, default_set_type_id) values (1, 'DEFAULT', ${setTypeId}) on conflict do nothing;
  insert into management.distribution_set_types (tenant_id, id, key, name, created_by, last_modified_by)
    values (1, ${setTypeId}, 'type-of-tests', 'Type of tests', 'x', 'x');
  insert into management.target_types (tenant_id, id, key, name, created_by, last_modified_by)
    values (1, ${typeIds.compatible}, 'yes', 'Yes', 'x', 'x'), (1, ${typeIds.incompatible}, 'no', 'No', 'x', 'x');
  insert into management.target_type_set_types (tenant_id, target_type_id, set_type_id) values (1, ${typeIds.compatible}, ${setTypeId});
  insert into management.distribution_sets (tenant_id, id, name, version, type_id, complete, valid, deleted, created_by, last_modified_by)
    values (1, ${setIds.complete}, 'set', '1', ${setTypeId}, true, true, false, 'x', 'x'),
           (1, ${setIds.invalid}, 'set', '2', ${setTypeId}, true, false, false, 'x', 'x'),
           (1, ${setIds.incomplete}, 'set', '3', ${setTypeId}, false, true, false, 'x', 'x'),
           (1, ${setIds.deleted}, 'set', '4', ${setTypeId}, true, true, true, 'x', 'x');`;

const addTargets = `
  with made as (
    insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_type_id, created_by,
                                    last_modified_by)
    select 1, $3::int + n, $1 || '-' || n, $1 || '-' || n, ''::bytea, ''::bytea, $4, 'x', 'x' from generate_series(1, $2::int) n
    returning tenant_id, id
  )
  insert into controller.target_state (tenant_id, target_id, update_status) select tenant_id, id, 1 from made`;

export async function createFixture(): Promise<Fixture> {
  const database = await testDatabase();
  const reserved: number[] = [];
  let nextTarget = 1000;
  const sql = <Row extends object>(text: string, values: unknown[] = []) =>
    withClient(database.adminUrl, async (client) => (await client.query<Row & Record<string, unknown>>(text, values)).rows);
  await sql(arrange);
  const db = database.db("rollout-engine");
  return {
    database,
    reserved,
    create: {
      db,
      ids: new IdBlocks(db.pool),
      catalogue: {
        async reserveSet({ setId = 0 }) {
          reserved.push(Number(setId));
          return { id: Number(setId), name: "set", version: "1", typeId: setTypeId, migrationStep: false, revision: 1 };
        },
      },
      fault: () => {},
      now: Date.now,
    },
    call: {
      principal: { tenantId: 1, tenant: "DEFAULT", kind: "user", subject: "admin", permissions: ["CREATE_ROLLOUT", "HANDLE_ROLLOUT"] },
      rid: "test",
      deadline: Number.POSITIVE_INFINITY,
    },
    async addTargets(prefix, n, over = {}) {
      await sql(addTargets, [prefix, n, nextTarget, over.typeId ?? null]);
      nextTarget += n;
    },
    sql,
    drop: () => database.drop(),
  };
}

/** Makes a body as the edge parses it, with a unique name unless one is given. */
export function rolloutBody(body: Record<string, unknown>): RolloutCreate {
  bodies += 1;
  return rolloutCreateBody.parse({ name: `rollout ${bodies}`, distributionSetId: setIds.complete, ...body });
}

let bodies = 0;
