import { oauthPaths } from "@harrier/contracts";
import { basic, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attackersAddresses, expectNobodyHarmed, type HostileStack, startHostileStack } from "./support/hostile-stack.ts";
import { chunk1, chunk64, chunked, head, oneMiB } from "./support/openings.ts";

// A client without credentials attacks; others must not notice.

/** A body that is denied, or that no service reads, is cut after ten seconds; the rest is for a busy machine. */
const dribbleCutMs = 14_000;
let hostile: HostileStack;

beforeAll(async () => {
  hostile = await startHostileStack();
});
afterAll(() => hostile?.stop());

test("without an attack this machine is fast enough for the measurement", async () => {
  expectNobodyHarmed(await hostile.peace());
});

const form = { "content-type": "application/x-www-form-urlencoded" };

test.each([1, 30])("bodies of 1 MiB that never end, for the token endpoint, from %i addresses", async (addresses) => {
  const report = await hostile.attack(
    `token bodies, ${addresses} addresses`,
    {
      kind: "siege",
      openings: [head("POST", oauthPaths.token, { ...form, ...chunked })],
      connections: 320,
      perSecond: Math.min(40 * addresses, 200),
      untilAnswered: true,
      filler: oneMiB,
    },
    attackersAddresses(addresses),
  );
  expectNobodyHarmed(report);
});

test("bodies of exactly the size that a form may have, that never end, from 60 addresses", async () => {
  const report = await hostile.attack(
    "token forms of 64 KiB",
    {
      kind: "siege",
      openings: [head("POST", oauthPaths.token, { ...form, "content-length": "65536" })],
      connections: 2_000,
      perSecond: 1_000,
      untilAnswered: true,
      filler: { text: "x".repeat(65_000), times: 1 },
      dribble: { text: "x", everyMs: 2_000 },
    },
    attackersAddresses(60),
  );
  expectNobodyHarmed(report);
});

test("bodies that are longer or shorter than announced", async () => {
  const token = (fields: Record<string, string>) => head("POST", oauthPaths.token, { ...form, ...fields });
  const report = await hostile.attack(
    "lengths that lie",
    {
      kind: "siege",
      openings: [
        token({ "content-length": "1048576" }),
        token({ "content-length": "10" }),
        token({ "content-length": "9007199254740991" }),
        token({ "content-length": "65536" }),
        token({ "content-length": "99", "transfer-encoding": "chunked" }),
        head("PUT", "/DEFAULT/controller/v1/nobody/configData", { "content-length": "1048576" }),
        head("POST", "/api/mgmt/v1/targets", { "content-length": "1048576" }),
      ],
      connections: 350,
      perSecond: 200,
      untilAnswered: true,
      filler: { text: "x".repeat(65_536), times: 15 },
      dribble: { text: "x", everyMs: 2_000 },
    },
    attackersAddresses(20),
  );
  expectNobodyHarmed(report);
});

test("bodies that arrive byte by byte where no service reads them", async () => {
  const to = (method: string, path: string) => head(method, path, chunked);
  const report = await hostile.attack(
    "dripping bodies",
    {
      kind: "siege",
      openings: [
        to("POST", "/nowhere"),
        to("GET", "/livez"),
        to("POST", "/livez"),
        to("GET", "/readyz"),
        to("GET", "/api/docs/"),
        to("POST", "/api/docs/"),
        to("GET", oauthPaths.jwks),
        to("GET", oauthPaths.discovery),
        to("PUT", oauthPaths.token),
        to("POST", "/api/mgmt/v1/targets"),
        to("PUT", "/DEFAULT/controller/v1/nobody/configData"),
        to("TRACE", "/"),
      ],
      connections: 360,
      perSecond: 200,
      filler: { text: chunk64, times: 1 },
      dribble: { text: chunk1, everyMs: 500 },
    },
    attackersAddresses(30),
  );
  expectNobodyHarmed(report);
  // A connection that stays is lost to the server.
  expect(report.spoils.maxMs).toBeLessThan(dribbleCutMs);
});

test("2,000 connections from one address: empty ones, half heads, heads that arrive byte by byte", async () => {
  const report = await hostile.attack(
    "2,000 connections",
    {
      kind: "siege",
      openings: ["", "GET / HTT", "GET /livez HTTP/1.1\r\nhost: harrier.example\r\nx-a: ", `${head("GET", "/livez")}`],
      connections: 2_000,
      perSecond: 500,
      dribble: { text: "a", everyMs: 3_000 },
    },
    attackersAddresses(1),
  );
  expectNobodyHarmed(report);
});

test("2,000 connections from 200 addresses", async () => {
  const report = await hostile.attack(
    "2,000 connections, 200 addresses",
    { kind: "siege", openings: ["", "GET /livez HTTP/1.1\r\nhost: harrier.example\r\nx-a: "], connections: 2_000, perSecond: 500 },
    attackersAddresses(200),
  );
  expectNobodyHarmed(report);
});

test("guessed passwords of existing and unknown users, from 100 addresses", async () => {
  const { calm, loud } = hostile;
  const names = [
    `${calm.name}\\boss`,
    `${loud.name}\\boss`,
    "admin",
    ...Array.from({ length: 40 }, () => `${calm.name}\\${uniqueName("u")}`),
  ];
  const report = await hostile.attack(
    "guessed passwords",
    {
      kind: "volley",
      concurrency: 120,
      shots: names.map((name, n) => ({
        method: "GET",
        path: "/api/mgmt/v1/userinfo",
        headers: { authorization: basic(name, `guess number ${n}`) },
      })),
    },
    attackersAddresses(100),
  );
  expectNobodyHarmed(report);
});

test("guessed secrets and tokens, from 100 addresses", async () => {
  const { calm, device } = hostile;
  const body = Buffer.from("grant_type=client_credentials").toString("base64");
  const report = await hostile.attack(
    "guessed tokens",
    {
      kind: "volley",
      concurrency: 100,
      shots: [
        ...Array.from({ length: 10 }, (_, n) => ({
          method: "POST",
          path: oauthPaths.token,
          headers: { ...form, authorization: basic(`oc_${n}0000000000000000000000`, "no secret") },
          body,
        })),
        ...Array.from({ length: 10 }, (_, n) => ({
          method: "GET",
          path: n % 2 === 0 ? device.path : `/${calm.name}/controller/v1/nobody-${n}`,
          headers: { authorization: `${n % 3 === 0 ? "GatewayToken" : "TargetToken"} guess-number-${n}` },
        })),
      ],
    },
    attackersAddresses(100),
  );
  expectNobodyHarmed(report);
});

test("requests of the maximum size, to pages that do not exist", async () => {
  const long = "x".repeat(7_000);
  const report = await hostile.attack(
    "large requests",
    {
      kind: "volley",
      concurrency: 60,
      shots: [
        { method: "GET", path: `/${long}?${"a=b&".repeat(1_500)}` },
        { method: "GET", path: `/api/mgmt/v1/targets?q=${long}`, headers: { authorization: `Bearer ${"a".repeat(6_000)}` } },
        {
          method: "GET",
          path: `/DEFAULT/controller/v1/${"%C3%A4".repeat(1_000)}`,
          headers: { "x-forwarded-for": "1.2.3.4, ".repeat(700) },
        },
        { method: "GET", path: "/livez", headers: { cookie: "c".repeat(14_000) } },
      ],
    },
    attackersAddresses(30),
  );
  expectNobodyHarmed(report);
});
