import { Agent, get } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { deviceOk, route } from "@harrier/contracts";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { ask, type Served, serve } from "../test-support/serve.ts";
import type { Mount } from "./mount.ts";

const base = "/:tenant/controller/v1/:controllerId";
const common = {
  service: "controller",
  interface: "device",
  success: deviceOk,
  permission: [],
  errors: [],
  summary: "",
  source: "",
} as const;
const poll = route({ ...common, id: "device.poll", method: "GET", path: base, response: z.unknown() });
const file = route({ ...common, id: "file", method: "GET", path: `${base}/file`, responseType: "application/octet-stream" });

const open: Served[] = [];
afterEach(async () => {
  for (const served of open.splice(0)) await served.http.close(0);
});

async function start(register: (mount: Mount) => void, drain: { pauseMs: number; transfersMs: number }): Promise<Served> {
  const served = await serve(register, { drain });
  open.push(served);
  return served;
}
const bare = { identity: null };
const path = "/DEFAULT/controller/v1/d1";
const refused = { code: "ECONNREFUSED" };

it("the announcement turns readiness off and closes each connection after its answer, and requests are served until the pause is over", async () => {
  const served = await start((mount) => mount(poll, async () => ({ body: {} })), { pauseMs: 600, transfersMs: 0 });
  const agent = new Agent({ keepAlive: true });
  const connectionOf = () =>
    new Promise<string | undefined>((resolve, reject) => {
      get({ port: served.port, path: "/livez", agent }, (answer) => void resolve(answer.resume().headers.connection)).on("error", reject);
    });
  expect(await connectionOf()).toBe("keep-alive");
  let over = false;
  const ended = served.http.drain().then(() => (over = true));
  const ready = await ask(served, "/readyz", bare);
  expect([ready.status, ready.json]).toMatchObject([503, { ready: false, checks: { process: "stopping" } }]);
  expect(await connectionOf()).toBe("close");
  expect((await ask(served, path)).status).toBe(200);
  expect(over).toBe(false);
  await ended;
  await served.http.close();
  await expect(ask(served, path)).rejects.toMatchObject(refused);
  agent.destroy();
});

it("the announcement ends the connection over which readiness was asked, so that the gateway notices at once", async () => {
  const served = await start(() => {}, { pauseMs: 1_000, transfersMs: 0 });
  const agent = new Agent({ keepAlive: true });
  const over = await new Promise<Socket>((resolve, reject) => {
    get({ port: served.port, path: "/readyz", agent }, (answer) => {
      const { socket } = answer;
      answer.resume().once("end", () => resolve(socket));
    }).on("error", reject);
  });
  let ended = false;
  const drained = served.http.drain().then(() => (ended = true));
  await new Promise((resolve) => over.once("close", resolve));
  expect(ended).toBe(false);
  await drained;
  agent.destroy();
});

it("a transfer gets its own time, and other requests are aborted at the grace period", async () => {
  const begun: string[] = [];
  const hang = async (name: string) => {
    begun.push(name);
    await wait(30_000, undefined, { ref: false });
  };
  const served = await start(
    (mount) => {
      mount(poll, async () => void (await hang("poll")));
      mount(file, async ({ res }) => {
        begun.push("download");
        res.writeHead(200, { "content-length": "2" });
        res.write("a");
        await wait(1_000);
        res.end("b");
      });
    },
    { pauseMs: 0, transfersMs: 20_000 },
  );
  const polled = ask(served, path).then(
    () => "answered",
    (error: { code?: string }) => error.code,
  );
  const download = ask(served, `${path}/file`);
  await expect.poll(() => begun.toSorted()).toEqual(["download", "poll"]);
  await served.http.drain();
  const closed = served.http.close(200);
  expect(await polled).toBe("ECONNRESET");
  expect((await download).text).toBe("ab");
  await closed;
});

it("a CSV import gets the time of a transfer", async () => {
  const csv = route({
    ...common,
    id: "import",
    method: "POST",
    path: `${base}/import`,
    bodyKind: "csv",
    body: z.unknown(),
    response: z.unknown(),
  });
  let begun = false;
  const served = await start(
    (mount) =>
      mount(csv, async () => {
        begun = true;
        await wait(1_000);
        return { body: { done: true } };
      }),
    { pauseMs: 0, transfersMs: 20_000 },
  );
  const imported = ask(served, `${path}/import`, { method: "POST", headers: { "content-type": "text/csv" }, body: "a;b\n" });
  await expect.poll(() => begun).toBe(true);
  await served.http.drain();
  const closed = served.http.close(200);
  expect((await imported).json).toEqual({ done: true });
  await closed;
});

it("a transfer is aborted too when its time is over", async () => {
  const served = await start(
    (mount) =>
      mount(file, async ({ res }) => {
        res.writeHead(200, { "content-length": "2" });
        res.write("a");
      }),
    { pauseMs: 0, transfersMs: 300 },
  );
  const download = ask(served, `${path}/file`);
  const outcome = download.then(
    () => "whole",
    () => "cut",
  );
  await wait(100);
  await served.http.close(100);
  expect(await outcome).toBe("cut");
});
