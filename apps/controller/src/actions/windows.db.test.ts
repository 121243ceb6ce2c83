import { windowsEnd } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf, itemOf, reservedSet } from "../commands.fixture.ts";
import { seedTargets } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  await seedTargets(
    fixture,
    [1, 2, 3, 4].map((id) => ({ id })),
  );
});
afterAll(() => fixture.close());

const nightly = { schedule: "0 0 2 ? * *", duration: "01:30", timezone: "+02:00" };
const once = { schedule: "0 0 2 24 12 ? 2098", duration: "01:30:00", timezone: "-05:30" };

test("each action keeps its window, and when its last one ends where there is a last one", async () => {
  const items = [
    itemOf("d1", { maintenanceWindow: nightly }),
    itemOf("d2", { maintenanceWindow: once }),
    itemOf("d3", { maintenanceWindow: once }),
    itemOf("d4"),
  ];
  const trips = await fixture.trips.during(() => fixture.actions.assignSet({ set: reservedSet(), items, initiator: "admin" }, contextOf()));
  expect(trips).toBe(1);
  const { rows } = await fixture.database.db("management").pool.query(
    `select maintenance_schedule as schedule, maintenance_duration as duration, maintenance_timezone as timezone
       from controller.actions_v1 order by target_id`,
  );
  expect(rows).toEqual([nightly, once, once, { schedule: null, duration: null, timezone: null }]);
  const ends = await fixture.db.pool.query(
    "select (extract(epoch from maintenance_ends_at) * 1000)::bigint as at from actions order by target_id",
  );
  const end = Date.UTC(2098, 11, 24, 9); // 02:00 at -05:30, and an hour and a half
  expect(windowsEnd(once, Date.now())).toBe(end);
  expect(ends.rows.map((row) => row.at)).toEqual([null, end, end, null]);
});
