import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import type { Stack } from "@harrier/stack";
import { eventually, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf, basicOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// Streams of events through the gateway: how many there may be, and that neither they nor their clients hold up the end of a replica.

const maxStreams = 6;
let stack: Stack;
const open: IncomingMessage[] = [];

beforeAll(async () => {
  const gateway = { HARRIER_IN_FLIGHT_TENANT: String(maxStreams) };
  stack = await startAnsweringStack({ replicas: { management: 2 }, gateway });
});
afterAll(async () => {
  for (const stream of open) stream.destroy();
  await stack?.stop();
});

interface Stream {
  readonly status: number;
  readonly received: () => string;
}

/** Opens a stream of changes and keeps what it sends. */
function follow(): Promise<Stream> {
  const url = `${stack.baseUrl}/api/mgmt/v1/events/stream?changes=true`;
  return new Promise((resolve, reject) => {
    get(url, { headers: { authorization: basicOf(stack) }, agent: false }, (res) => {
      open.push(res);
      let received = "";
      res.on("data", (part) => {
        received += part;
      });
      res.on("error", () => {});
      resolve({ status: res.statusCode ?? 0, received: () => received });
    }).on("error", reject);
  });
}

test("streams of a tenant are bounded, and take no place of its requests", async () => {
  const streams = await Promise.all(Array.from({ length: maxStreams + 2 }, follow));
  expect(streams.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: maxStreams }, () => 200), 429, 429]);
  const told = streams.filter(({ status }) => status === 200);
  await eventually(() => {
    for (const stream of told) expect(stream.received()).toContain('"*"');
  });
  const [target] = await adminOf(stack).createTargets(1, uniqueName("followed"));
  await eventually(() => {
    for (const stream of told) expect(stream.received()).toContain(`"targets/${target?.controllerId}"`);
  });
});

test("a replica that is stopped ends its streams, and clients find the other one", async () => {
  const closed = Promise.all(open.filter((res) => res.statusCode === 200).map((res) => once(res, "close")));
  // streams of both replicas are open
  for (const index of [0, 1]) {
    await stack.restart("management", index);
    await adminOf(stack).createTargets(1, uniqueName("meanwhile"));
  }
  await closed;
  const stream = await eventually(async () => {
    const next = await follow();
    expect(next.status).toBe(200);
    return next;
  });
  await eventually(() => expect(stream.received()).toContain('"*"'));
  const [target] = await adminOf(stack).createTargets(1, uniqueName("followed"));
  await eventually(() => expect(stream.received()).toContain(`"targets/${target?.controllerId}"`));
});
