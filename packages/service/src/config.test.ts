import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { loadConfig, port, redactConfig, tlsOf } from "./config.ts";

const schema = z.object({ HARRIER_HTTP_PORT: port, HARRIER_SECRET_KEY: z.string(), HARRIER_DATABASE_URL: z.string().optional() });
const right = { HARRIER_HTTP_PORT: "8080", HARRIER_SECRET_KEY: "s3cret" };
const dir = mkdtempSync(join(tmpdir(), "harrier-config-"));
afterAll(() => rmSync(dir, { recursive: true }));
const file = (text: string) => {
  const path = join(dir, "secret");
  writeFileSync(path, text);
  return path;
};

describe("loadConfig", () => {
  it("parses the given settings and adds those that every service knows", () => {
    expect(loadConfig(schema, right)).toEqual({
      HARRIER_DRAIN_MS: 3_000,
      HARRIER_DRAIN_TRANSFERS_MS: 60_000,
      HARRIER_HTTP_PORT: 8080,
      HARRIER_SECRET_KEY: "s3cret",
      HARRIER_LOG_LEVEL: "info",
      HARRIER_HTTP_HOST: "127.0.0.1",
    });
  });

  it("reads a value from a file without its line end", () => {
    expect(loadConfig(schema, { HARRIER_HTTP_PORT: "1", HARRIER_SECRET_KEY_FILE: file("from file\n") }).HARRIER_SECRET_KEY).toBe(
      "from file",
    );
  });

  it("refuses an empty file, even for an optional setting", () => {
    expect(() => loadConfig(schema, { ...right, HARRIER_TLS_CA_FILE: file("\n") })).toThrow(/^HARRIER_TLS_CA_FILE: .* is empty$/);
  });

  it.each([
    [{ ...right, HARRIER_HTTP_PORT: "x" }, "HARRIER_HTTP_PORT"],
    [{ HARRIER_HTTP_PORT: "1" }, "HARRIER_SECRET_KEY"],
    [{ ...right, HARRIER_SECRET_KEY: "" }, "HARRIER_SECRET_KEY"],
    [{ ...right, HARRIER_SECRET_KEY_FILE: "/nowhere" }, "both given"],
    [{ HARRIER_HTTP_PORT: "1", HARRIER_SECRET_KEY_FILE: "/nowhere" }, "cannot read /nowhere"],
    [{ ...right, HARRIER_LOG_LEVEL: "loud" }, "HARRIER_LOG_LEVEL"],
  ])("refuses %j in one line", (env, reason) => {
    expect(() => loadConfig(schema, env, () => undefined)).toThrow(reason);
    try {
      loadConfig(schema, env, () => undefined);
    } catch (error) {
      expect((error as Error).message).not.toContain("\n");
    }
  });

  it("warns of unknown HARRIER_* names and continues", () => {
    const warnings: string[] = [];
    loadConfig(schema, { ...right, HARRIER_CONTROLLER_SERVICE_HOST: "10.0.0.1", HARRIER_TYPO: "1", PATH: "/bin" }, (line) =>
      warnings.push(line),
    );
    expect(warnings).toEqual(["unknown settings are ignored: HARRIER_CONTROLLER_SERVICE_HOST, HARRIER_TYPO"]);
  });
});

it("redactConfig hides secrets and passwords in URLs", () => {
  expect(
    redactConfig({ HARRIER_HTTP_PORT: 1, HARRIER_SECRET_KEY: "x", HARRIER_DATABASE_URL: "postgres://user:p%40ss@h:1/d", A: undefined }),
  ).toEqual({
    HARRIER_HTTP_PORT: 1,
    HARRIER_SECRET_KEY: "***",
    HARRIER_DATABASE_URL: "postgres://user:***@h:1/d",
    A: undefined,
  });
  expect(redactConfig({ s3: { endpoint: "http://h:1", accessKey: "x" }, urls: ["amqp://u:p@h"] })).toEqual({
    s3: { endpoint: "http://h:1", accessKey: "***" },
    urls: ["amqp://u:***@h"],
  });
});

it("tlsOf requires all three settings or none", () => {
  const common = { HARRIER_LOG_LEVEL: "info", HARRIER_HTTP_HOST: "127.0.0.1" } as const;
  expect(tlsOf(common)).toBeUndefined();
  expect(tlsOf({ ...common, HARRIER_TLS_CERT: "c", HARRIER_TLS_KEY: "k", HARRIER_TLS_CA: "a" })).toEqual({ cert: "c", key: "k", ca: "a" });
  expect(() => tlsOf({ ...common, HARRIER_TLS_CERT: "c" })).toThrow("belong together");
});
