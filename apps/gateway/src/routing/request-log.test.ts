import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log, Metrics } from "@harrier/service";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RequestFacts } from "./handle.ts";
import { createRequestLog } from "./request-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp() {
  const lines: [string, object, string][] = [];
  const write = (level: string) => (fields: object, text: string) => void lines.push([level, fields, text]);
  const log = { isLevelEnabled: (level: string) => level !== "debug", info: write("info"), debug: write("debug") } as unknown as Log;
  const metrics = { route: () => ({ observe: () => undefined }) } as unknown as Metrics;
  const end = createRequestLog({ log, metrics, now: Date.now });
  const request = (status: number, tenant?: string, kind: "device" | "management" = "management") => {
    const route = { interface: kind, method: "GET", path: "/a" };
    const facts = { route, rid: "r", startedAt: Date.now(), principal: tenant && { tenant, subject: "s" } } as unknown as RequestFacts;
    end({ method: "GET" } as IncomingMessage, { statusCode: status } as ServerResponse, facts);
  };
  return { lines, request };
}

test.each([
  ["management", 200, 1],
  ["management", 400, 1],
  ["management", 429, 0],
  ["device", 200, 0],
  ["device", 404, 1],
  ["device", 429, 0],
  ["device", 500, 1],
  ["device", 503, 0],
  ["management", 503, 1],
] as const)("%s %d: %d lines", (kind, status, expected) => {
  const { lines, request } = setUp();
  request(status, "t", kind);
  expect(lines).toHaveLength(expected);
});

test("what a fleet is answered by a service that is down is one log line in ten seconds", () => {
  const { lines, request } = setUp();
  for (let n = 0; n < 5_000; n += 1) request(503, "t", "device");
  vi.advanceTimersByTime(10_000);
  expect(lines).toEqual([["info", { unanswered: { t: 5_000 } }, "requests of devices that were answered 503"]]);
});

test("a flood of requests beyond a limit is one log line in ten seconds, whoever sends it", () => {
  const { lines, request } = setUp();
  for (let n = 0; n < 5_000; n += 1) request(429, `t${n % 100}`);
  request(429);
  vi.advanceTimersByTime(10_000);
  expect(lines).toHaveLength(1);
  const { refused } = (lines[0] as (typeof lines)[number])[1] as { refused: Record<string, number> };
  expect(Object.keys(refused)).toHaveLength(21);
  expect([refused["t0"], refused["(others)"]]).toEqual([50, 4_001]);
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(1);
  request(429, "late");
  vi.advanceTimersByTime(10_000);
  expect(lines[1]).toEqual(["info", { refused: { late: 1 } }, "requests beyond a limit"]);
});
