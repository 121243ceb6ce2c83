import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyPairsOf } from "@harrier/rpc";
import { commonSettings, createLog } from "@harrier/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { type Backend, type BackendConfig, openBackend } from "./backend.ts";

const service = "rollout-engine";
const needs = [{ schema: "public", view: "needed_v1" }];
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let folder: string;

beforeAll(async () => {
  fresh = await freshDatabase();
  folder = mkdtempSync(join(tmpdir(), "harrier-backend-"));
  mkdirSync(join(folder, "migrations"));
  writeFileSync(join(folder, "migrations", "0001_first.sql"), "-- expand\ncreate table own (x int);\n");
});
afterAll(async () => {
  await fresh.drop();
  rmSync(folder, { recursive: true });
});

const key = (pair: string): string => `${pair}=k1:${randomBytes(32).toString("base64")}`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function settings(): Promise<BackendConfig> {
  return {
    ...commonSettings.parse({ HARRIER_DRAIN_MS: 0 }),
    HARRIER_DATABASE_URL: fresh.url,
    HARRIER_IDENTITY_KEYS: keyPairsOf(service).map(key).join(";"),
    HARRIER_HTTP_PORT: await freePort(),
    HARRIER_GRPC_PORT: await freePort(),
  };
}

/** Announces the stop to all parts and stops them in the order of `runService`. */
async function stopAll({ parts }: Backend): Promise<void> {
  for (const part of parts) if (typeof part !== "function") await part.drain?.();
  for (const part of parts.toReversed()) await (typeof part === "function" ? part() : "stop" in part ? part.stop() : part.close());
}

test("a backend prepares its schema, is ready once the needed views exist, and stops what was added last first", async () => {
  const config = await settings();
  const log = createLog({ service, level: "silent" });
  const backend = await openBackend({ service, config, log, schema: { schema: "public", folder }, needs });
  const { rows } = await backend.db.pool.query("select * from own");
  expect(rows).toEqual([]);

  const events: string[] = [];
  const jobs = (name: string) => ({
    start: async () => void events.push(`${name} starts`),
    stop: async () => void events.push(`${name} stops`),
  });
  const readyz = () => fetch(`http://127.0.0.1:${config.HARRIER_HTTP_PORT}/readyz`);
  backend.run(jobs("first"));
  backend.add(jobs("second"));
  backend.rpc();
  backend.http({ readiness: { own: async () => true } });
  const readable = Promise.withResolvers<void>();
  await backend.whenReadable(readable.resolve);
  await backend.listen();
  backend.runUntilDrained(jobs("third"));
  backend.add(() => void events.push("last stops"));

  expect((await readyz()).status).toBe(503);
  await backend.db.pool.query("create view needed_v1 as select 1 as x");
  await readable.promise;
  await expect.poll(async () => (await readyz()).json()).toEqual({ ready: true, checks: { database: "ok", clock: "ok", own: "ok" } });

  await stopAll(backend);
  expect(events).toEqual(["first starts", "third starts", "third stops", "last stops", "second stops", "first stops"]);
  await expect(readyz()).rejects.toThrow("fetch failed");
  await expect(backend.db.pool.query("select 1")).rejects.toThrow("after calling end");
});

test("a backend with keys that belong to another service does not open", async () => {
  const config = { ...(await settings()), HARRIER_IDENTITY_KEYS: keyPairsOf("gateway").map(key).join(";") };
  const log = createLog({ service, level: "silent" });
  await expect(openBackend({ service, config, log, schema: { schema: "public", folder }, needs })).rejects.toThrow("identity keys");
});
