import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { clockAheadMs } from "./clock.ts";
import { createDatabase, type Database } from "./database.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = createDatabase({ url: fresh.url, applicationName: "clock" });
});
afterAll(async () => {
  await db?.close();
  await fresh?.drop();
});

it("measures how far this machine's clock is ahead of the database's", async () => {
  expect(Math.abs(await clockAheadMs(db.pool))).toBeLessThan(2_000);
  const real = Date.now.bind(Date);
  const moved = vi.spyOn(Date, "now").mockImplementation(() => real() - 300_000);
  const ahead = await clockAheadMs(db.pool).finally(() => moved.mockRestore());
  expect(Math.round(ahead / 10_000)).toBe(-30);
});
