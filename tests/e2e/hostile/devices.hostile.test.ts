import { randomBytes } from "node:crypto";
import { createDevice, type DeploymentArtifact } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Shot } from "./attacker/attack.ts";
import { cborFeedback } from "./support/cbor.ts";
import { attackersAddresses, expectNobodyHarmed, type HostileStack, startHostileStack } from "./support/hostile-stack.ts";
import { chunked, head, oneMiB } from "./support/openings.ts";
import { makeDevice, type TenantDevice } from "./support/tenant.ts";

// One device attacks with its own valid token: other devices of its tenant and all others must not notice.

const fileBytes = 32 * 1_048_576;
const MiB = 1_048_576;
let hostile: HostileStack;
let device: TenantDevice;
let actionId: number;
let download: string;

beforeAll(async () => {
  hostile = await startHostileStack();
  const { calm, stack } = hostile;
  device = await makeDevice(calm);
  const { set } = await calm.boss.createSetWithFile(randomBytes(fileBytes));
  actionId = await calm.boss.assign(device.controllerId, set.id);
  const token = device.authorization.replace("TargetToken ", "");
  const own = createDevice({ baseUrl: stack.baseUrl, tenant: calm.name, controllerId: device.controllerId, token });
  const artifact = (await own.deployment())?.deployment.chunks[0]?.artifacts[0] as DeploymentArtifact;
  download = new URL((artifact._links["download"] ?? artifact._links["download-http"])?.href as string).pathname;
});
afterAll(() => hostile?.stop());

test("without an attack this machine is fast enough for the measurement", async () => {
  expectNobodyHarmed(await hostile.peace());
});

const encoded = (text: string): string => Buffer.from(text).toString("base64");
const headers = (type = "application/json") => ({ authorization: device.authorization, "content-type": type });
const feedbackPath = () => `${device.path}/deploymentBase/${actionId}/feedback`;

function attributes(n: number): Shot {
  const data = Object.fromEntries(Array.from({ length: n }, (_, i) => [`key${i}`, "v"]));
  return { method: "PUT", path: `${device.path}/configData`, headers: headers(), body: encoded(JSON.stringify({ data })) };
}
const feedbackOf = (details: unknown[]): Shot => ({
  method: "POST",
  path: feedbackPath(),
  headers: headers(),
  body: encoded(JSON.stringify({ id: String(actionId), status: { execution: "proceeding", result: { finished: "none" }, details } })),
});

test("attributes of 60,000 keys, ten at once", async () => {
  const report = await hostile.attack(
    "60,000 attributes",
    { kind: "volley", concurrency: 10, shots: [attributes(60_000)] },
    attackersAddresses(10),
  );
  expectNobodyHarmed(report);
  expect(report.spoils.answers["200"]).toBeUndefined();
});

test("reports of 200,000 messages, as JSON and CBOR, ten at once", async () => {
  const messages = Array.from({ length: 200_000 }, () => "x");
  const cbor: Shot = {
    method: "POST",
    path: feedbackPath(),
    headers: headers("application/cbor"),
    body: cborFeedback(actionId, messages.length),
  };
  const report = await hostile.attack(
    "200,000 messages",
    { kind: "volley", concurrency: 10, shots: [feedbackOf(messages), cbor] },
    attackersAddresses(10),
  );
  expectNobodyHarmed(report);
  expect(report.spoils.answers["200"]).toBeUndefined();
});

test("reports of 100,000 elements in charsets that are no UTF-8, ten at once", async () => {
  const report1 = JSON.stringify({
    id: String(actionId),
    status: { execution: "proceeding", result: { finished: "none" }, details: ['"'] },
  });
  const text = `${report1.slice(0, -1)},"more":[${"0,".repeat(100_000)}0]}`;
  const shots = (["latin1", "utf16le"] as const).map((encoding) => ({
    method: "POST",
    path: feedbackPath(),
    headers: headers(`application/json;charset=${encoding === "latin1" ? "iso-8859-1" : "utf-16le"}`),
    body: Buffer.from(text, encoding).toString("base64"),
  }));
  const report = await hostile.attack("reports in other charsets", { kind: "volley", concurrency: 10, shots }, attackersAddresses(10));
  expectNobodyHarmed(report);
  expect(report.spoils.answers["200"]).toBeUndefined();
});

test("valid reports of almost 1 MiB, as many as are accepted", async () => {
  // A server ignores unknown members (contract device.md), so a valid report may carry any amount of them.
  const report1 = JSON.stringify({
    id: String(actionId),
    status: { execution: "proceeding", result: { finished: "none" }, details: ["x"] },
  });
  const padded = `${report1.slice(0, -1)},"more":"${"x".repeat(MiB - report1.length - 20)}"}`;
  const many = `${report1.slice(0, -1)},"more":[${"0,".repeat((MiB - report1.length - 30) / 2)}0]}`;
  const shots = [padded, many].map((body) => ({ method: "POST", path: feedbackPath(), headers: headers(), body: encoded(body) }));
  const report = await hostile.attack("reports of 1 MiB", { kind: "volley", concurrency: 20, shots }, attackersAddresses(20));
  expectNobodyHarmed(report);
});

test("bodies of 1 MiB that never end, by a device that has signed in", async () => {
  const signedIn = { ...chunked, authorization: device.authorization };
  const report = await hostile.attack(
    "unended bodies of a device",
    {
      kind: "siege",
      openings: [head("PUT", `${device.path}/configData`, signedIn), head("POST", feedbackPath(), signedIn)],
      connections: 320,
      perSecond: 60,
      untilAnswered: true,
      filler: oneMiB,
    },
    attackersAddresses(30),
  );
  expectNobodyHarmed(report);
});

test("polls without end, 100 at once", async () => {
  const shots = [{ method: "GET", path: device.path, headers: headers() }];
  const report = await hostile.attack("polls", { kind: "volley", concurrency: 100, shots }, attackersAddresses(20));
  expectNobodyHarmed(report);
});

test("200 downloads whose client does not read", async () => {
  const report = await hostile.attack(
    "unread downloads",
    { kind: "volley", concurrency: 200, unreadForMs: 30_000, shots: [{ method: "GET", path: download, headers: headers() }] },
    attackersAddresses(10),
  );
  expectNobodyHarmed(report);
});

test("downloads of many small ranges, 20 at once", async () => {
  const ranges = (n: number, step: number) => `bytes=${Array.from({ length: n }, (_, i) => `${i * step}-${i * step}`).join(",")}`;
  const of = (range: string): Shot => ({ method: "GET", path: download, headers: { ...headers(), range } });
  const report = await hostile.attack(
    "many ranges",
    {
      kind: "volley",
      concurrency: 20,
      shots: [of(ranges(60, 500_000)), of(ranges(500, 60_000)), of(ranges(1_100, 2)), of(`bytes=0-${"0-,".repeat(3_000)}`)],
    },
    attackersAddresses(10),
  );
  expectNobodyHarmed(report);
});
