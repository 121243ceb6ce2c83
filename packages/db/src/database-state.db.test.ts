import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { createDatabase, type Database } from "./database.ts";
import { createDatabaseState } from "./database-state.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = createDatabase({ url: fresh.url, applicationName: "state" });
});
afterAll(async () => {
  await db?.close();
  await fresh?.drop();
});

it("measures how far this machine's clock is ahead of the database's", async () => {
  const state = createDatabaseState(db.pool, []);
  expect(Math.abs(await state.clockAheadMs())).toBeLessThan(2_000);
  const real = Date.now.bind(Date);
  const moved = vi.spyOn(Date, "now").mockImplementation(() => real() - 300_000);
  const ahead = await state.clockAheadMs().finally(() => moved.mockRestore());
  expect(Math.round(ahead / 10_000)).toBe(-30);
});

it("names the views that cannot be read, in one round trip with the clock, and asks anew the next time", async () => {
  const query = vi.spyOn(db.pool, "query");
  const state = createDatabaseState(db.pool, [
    { schema: "pg_catalog", view: "pg_views" },
    { schema: "nowhere", view: "b_v1" },
    { schema: "nowhere", view: "a_v1" },
  ]);
  const [missing] = await Promise.all([state.missingViews(), state.clockAheadMs()]);
  expect(missing).toEqual(["nowhere.a_v1", "nowhere.b_v1"]);
  expect(query).toHaveBeenCalledTimes(1);
  await state.missingViews();
  expect(query).toHaveBeenCalledTimes(2);
  query.mockRejectedValueOnce(new Error("no database") as never);
  await expect(state.missingViews()).rejects.toThrow("no database");
  expect(await state.missingViews()).toHaveLength(2);
  query.mockRestore();
});
