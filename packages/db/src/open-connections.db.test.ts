import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { createDatabase, type Database } from "./database.ts";
import { inTransaction, run, statement } from "./statement.ts";

const one = statement<[], { x: number }>("db_test.one", "select 1 as x");

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

/** Stands between a service and PostgreSQL; from `vanish` on it passes nothing more and closes nothing, as a host without power does. */
async function network() {
  const { hostname, port } = new URL(fresh.url);
  const sockets: Socket[] = [];
  let gone = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on("error", () => undefined);
    near.on("data", (data) => void (gone || far.write(data)));
    far.on("data", (data) => void (gone || near.write(data)));
    near.on("close", () => void (gone || far.destroy()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(fresh.url);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    vanish: () => {
      gone = true;
    },
    comeBack: () => {
      gone = false;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

let between: Awaited<ReturnType<typeof network>>;
let db: Database;
beforeEach(async () => {
  between = await network();
  db = createDatabase({ url: between.url, applicationName: "db-test", max: 1, limits: { statementMs: 100 } });
});
afterEach(async () => {
  await db.close();
  between.close();
});

test("a host that has vanished is given up once per statement or transaction, and new connections are made", async () => {
  await run(db.pool, one, []);
  const began = performance.now();
  const transaction = inTransaction(db.pool, async (tx) => {
    between.vanish();
    await run(tx, one, []);
  });
  await expect(transaction).rejects.toMatchObject({ code: "unavailable" });
  // its rollback would have waited as long again
  expect(performance.now() - began).toBeLessThan(9_000);
  between.comeBack();
  expect(await run(db.pool, one, [])).toEqual([{ x: 1 }]);
});

test("a close ends although a connection is never given back, and the server rolls back what it did", async () => {
  const closed = createDatabase({ url: fresh.url, applicationName: "db-test" });
  const client = await closed.session.connect();
  client.on("error", () => undefined);
  await client.query("select pg_advisory_lock(1)");
  await closed.close();
  const other = createDatabase({ url: fresh.url, applicationName: "db-test" });
  const isFree = async () => (await other.pool.query<{ free: boolean }>("select pg_try_advisory_lock(1) as free")).rows[0]?.free;
  await expect.poll(isFree).toBe(true);
  await other.close();
  client.release(true);
});
