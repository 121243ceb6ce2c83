import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { memoryLog } from "../test-support/serve.ts";

it("credentials never reach the log, at the top level or nested", () => {
  const { log, lines } = memoryLog();
  const secret = "s3cret-value";
  log.info({ authorization: secret, password: secret, "x-harrier-identity": secret }, "a");
  log.info({ headers: { authorization: secret, cookie: secret, "x-harrier-identity": secret } }, "b");
  log.info({ req: { headers: { authorization: secret }, body: { password: secret } }, target: { securityToken: secret } }, "c");
  expect(lines).toHaveLength(3);
  expect(JSON.stringify(lines)).not.toContain(secret);
  expect(lines[1]).toMatchObject({ level: "info", service: "controller", headers: { authorization: "***" } });
});

it("an error is logged at a limited length, whatever it contains, and without credentials", () => {
  const { log, lines } = memoryLog();
  const long = "x".repeat(1_000_000);
  const self: Record<string, unknown> = {};
  self["self"] = self;
  const error = Object.assign(new Error(`short ${long}`), {
    code: "23505",
    body: long,
    password: "s3cret-value",
    items: Array.from({ length: 100_000 }, () => long),
    nested: { headers: { authorization: "s3cret-value" }, self, bytes: Buffer.alloc(1_000_000) },
    ...Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n])),
  });
  log.info({ err: error }, "a");
  log.info({ err: Object.assign(new Error("b"), { cause: new Error(long) }) }, "b");
  log.info({ err: "a text" }, "c");
  const lengths = lines.map((line) => JSON.stringify(line).length);
  expect(Math.max(...lengths)).toBeLessThan(24_000);
  expect(lines[0]).toMatchObject({ err: { type: "Error", message: expect.stringMatching(/^short x+…$/), code: "23505", password: "***" } });
  expect(JSON.stringify(lines)).not.toContain("s3cret-value");
  expect(lines[2]).toMatchObject({ err: "a text" });
});

it("lines are dropped when a few megabytes wait, and their number is logged once there is room again", async () => {
  const code = `
    import fs from "node:fs";
    import { createLog } from ${JSON.stringify(new URL("./log.ts", import.meta.url).href)};
    const write = fs.write;
    fs.write = (...args) => setImmediate(args.at(-1), Object.assign(new Error("no space left on device"), { code: "ENOSPC" }));
    const log = createLog({ service: "controller" });
    const tick = () => new Promise((resolve) => setTimeout(resolve, 1));
    for (let n = 0; n < 20_000; n += 1) { log.info({ filler: "x".repeat(1_000) }, "line"); if (n % 1_000 === 0) await tick(); }
    fs.write = write;
    await tick(); // for the last try to fail
    log.info("room");`;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { maxBuffer: 2 ** 26 });
  const lines = (await run).stdout.trimEnd().split("\n");
  const messages = lines.map((line) => JSON.parse(line) as { msg: string; lines?: number });
  expect(messages.length).toBeGreaterThan(1_000);
  expect(messages.length).toBeLessThan(10_000);
  const told = messages.filter(({ msg }) => msg.startsWith("lines were dropped"));
  expect(told).toHaveLength(1);
  expect((told[0]?.lines ?? 0) + messages.length - told.length).toBe(20_001);
});
