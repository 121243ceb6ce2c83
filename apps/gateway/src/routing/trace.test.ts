import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Route, routes } from "@harrier/contracts";
import { startTracing } from "@harrier/tracing";
import { afterEach, expect, test } from "vitest";
import { beginTrace } from "./trace.ts";

const client = `00-${"a".repeat(32)}-${"b".repeat(16)}`;
const routeOf = (side: Route["interface"], method: Route["method"]): Route =>
  routes.find((route) => route.interface === side && route.method === method) as Route;

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});
/** Nobody takes the spans at this address. */
const traced = async () => {
  stop = await startTracing({ url: "http://127.0.0.1:9", service: "gateway", log: { info() {}, warn() {} } });
};

/** Answers the traceparent with which a request goes on, when `share` of them is recorded. */
function begin(traceparent: string | undefined, route = routeOf("management", "POST"), share = 1): string | undefined {
  const req = { method: route.method, headers: traceparent === undefined ? {} : { traceparent } } as unknown as IncomingMessage;
  return beginTrace({ req, res: new EventEmitter() as ServerResponse, route, rid: "r" }, share);
}

test.each(["00", "01", "03", "ff"])("without a collector at the gateway a client's flag %s lets no service record its request", (flag) => {
  expect(begin(`${client}-${flag}`)).toBe(`${client}-00`);
  expect(begin(`${client}-${flag}`, routeOf("device", "GET"))).toBe(`${client}-00`);
});

test.each(["00", "01"])("a request that is not in the share is not recorded, whatever its client's flag says: %s", async (flag) => {
  await traced();
  expect(begin(`${client}-${flag}`, undefined, 0)).toBe(`${client}-00`);
  expect(begin(`${client}-${flag}`, undefined, 1)).toMatch(/^00-a{32}-(?!b{16})[0-9a-f]{16}-01$/);
});

test("without a trace of the client there is a new one that is not recorded, and none for a device's reads", () => {
  expect(begin(undefined)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(begin("nonsense")).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(begin(undefined, routeOf("device", "GET"))).toBeUndefined();
});
