import type { CommandsFixture } from "../commands.fixture.ts";
import { seedActions } from "../device.fixture.ts";

let nextAction = 10_000;

/** Makes a closed or open action of a target that changed this many days ago. */
export async function action(
  fixture: CommandsFixture,
  targetId: number,
  status: number,
  { days = 40, active = false, rolloutId }: Partial<Seeded> = {},
): Promise<number> {
  const id = nextAction++;
  await seedActions(fixture, [{ id, targetId, status, active, ...(rolloutId === undefined ? {} : { rolloutId, groupId: 1 }) }]);
  await fixture.db.pool.query("update actions set last_modified_at = now() - make_interval(days => $2) where id = $1", [id, days]);
  return id;
}
interface Seeded {
  days: number;
  active: boolean;
  rolloutId: number;
}

/** Lists the actions that a target still has. */
export const left = async (fixture: CommandsFixture, targetId: number): Promise<number[]> => {
  const { rows } = await fixture.db.pool.query("select id::int from actions where target_id = $1 order by id", [targetId]);
  return rows.map((row) => row.id);
};

/** Stores a rollout in rollout-engine's schema. */
export async function rollout(fixture: CommandsFixture, id: number, status: string): Promise<void> {
  await fixture.database.db("rollout-engine").pool.query(
    `insert into rollouts (tenant_id, id, name, status, target_filter, set_id, set_name, set_version, set_type_id, migration_step,
       force_type, created_by, last_modified_by) values (1, $1::bigint, 'r' || $1::bigint, $2, 'name==*', 100, 's', '1', 1, false, 1, 'x', 'x')`,
    [id, status],
  );
}
