import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, type Stack } from "@harrier/stack";
import { Authorities, type Authority, eventually, fingerprintOf, type Pair } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// Devices sign in by the certificate that they show where TLS ends at the gateway itself (contract device.md §9).

const authorities = new Authorities();
const dir = mkdtempSync(join(tmpdir(), "harrier-tls-"));
const path = (name: string) => join(dir, name);
/** A change is in effect within this time. */
const secondsMs = 5_000;
let stack: Stack;
let port: number;
let root: Authority;
let one: Pair;
let two: Pair;

beforeAll(async () => {
  root = authorities.root("fleet");
  [one, two] = [root.issue("car-1"), root.issue("car-2")];
  const own = root.issue("gateway", "server");
  writeFileSync(path("cert.pem"), own.cert);
  writeFileSync(path("key.pem"), own.key);
  writeFileSync(path("ca.pem"), root.cert);
  port = await freePort();
  const gateway = {
    HARRIER_HTTPS_PORT: String(port),
    HARRIER_HTTPS_CERT_FILE: path("cert.pem"),
    HARRIER_HTTPS_KEY_FILE: path("key.pem"),
    HARRIER_HTTPS_CLIENT_CA_FILE: path("ca.pem"),
    HARRIER_CERTIFICATE_HEADERS: "X-Ssl-Client-Cn:X-Ssl-Issuer-Hash-%d",
  };
  stack = await startAnsweringStack({ gateway });
  await adminOf(stack).configure("authentication.header.authority", fingerprintOf(root.cert).toUpperCase());
  await adminOf(stack).configure("authentication.header.enabled", true);
  await eventually(async () => expect(await status("car-1", one)).toBe(200), secondsMs);
});
afterAll(async () => {
  await stack?.stop();
  authorities.close();
  rmSync(dir, { recursive: true, force: true });
});

const agentOf = (pair?: Pair) => new Agent({ ca: root.cert, ...pair, keepAlive: true, maxSockets: 1 });

interface Answer {
  status: number;
  text: string;
  challenge: string | undefined;
}

const ask = (agent: Agent, controllerId: string, headers: Record<string, string> = {}) =>
  new Promise<Answer>((resolve, reject) => {
    const req = request({ host: "127.0.0.1", port, agent, headers, path: `/DEFAULT/controller/v1/${controllerId}` }, (res) => {
      let text = "";
      res.on("data", (chunk) => {
        text += chunk;
      });
      res.on("end", () => resolve({ status: res.statusCode ?? 0, text, challenge: res.headers["www-authenticate"] }));
    });
    req.on("error", reject);
    req.end();
  });

async function status(controllerId: string, pair?: Pair, headers?: Record<string, string>): Promise<number> {
  const agent = agentOf(pair);
  try {
    return (await ask(agent, controllerId, headers)).status;
  } finally {
    agent.destroy();
  }
}

test("two devices on separate connections poll by their certificates, register, and get https links", async () => {
  const agents = [agentOf(one), agentOf(two)];
  for (let round = 0; round < 5; round++) {
    for (const [n, agent] of agents.entries()) {
      const { status: got, text } = await ask(agent, `car-${n + 1}`);
      expect(got).toBe(200);
      if (round === 0) expect(text).toContain(`https://127.0.0.1:${port}/DEFAULT/controller/v1/car-${n + 1}/configData`);
      // The same connection authenticates no other device.
      expect(await ask(agent, `car-${2 - n}`)).toEqual({ status: 401, text: "", challenge: "ApiKey" });
    }
  }
  for (const agent of agents) agent.destroy();
});

describe("401 for", () => {
  test.each<[string, () => Pair | undefined]>([
    ["no certificate", () => undefined],
    ["another device's", () => two],
    ["one of another authority", () => authorities.root("others").issue("car-1")],
    ["one of another authority of the same name", () => authorities.root("fleet").issue("car-1")],
    ["one that the device has signed itself", () => authorities.selfSigned("car-1")],
    ["an expired one", () => root.issue("car-1", "device", { from: new Date(Date.UTC(2020, 0)), to: new Date(Date.UTC(2021, 0)) })],
  ])("%s", async (_what, pair) => {
    const agent = agentOf(pair());
    expect(await ask(agent, "car-1")).toEqual({ status: 401, text: "", challenge: "ApiKey" });
    agent.destroy();
  });
});

test("certificate headers of a client have no effect", async () => {
  const headers = { "x-ssl-client-cn": "car-1", "x-ssl-issuer-hash-1": fingerprintOf(root.cert), "x-forwarded-for": "127.0.0.1" };
  expect(await status("car-1", undefined, headers)).toBe(401);
  expect(await status("car-1", two, headers)).toBe(401);
});

test("a device without a certificate or with a wrong one signs in with another credential", async () => {
  await adminOf(stack).configure("authentication.gatewaytoken.key", "the-key-of-the-gateway");
  await adminOf(stack).configure("authentication.gatewaytoken.enabled", true);
  const token = { authorization: "GatewayToken the-key-of-the-gateway" };
  await eventually(async () => expect(await status("bike", undefined, token)).toBe(200), secondsMs);
  expect(await status("bike", authorities.selfSigned("bike"), token)).toBe(200);
});

test("an authority that the tenant removes loses its effect within seconds, on open connections too", async () => {
  const agent = agentOf(one);
  expect((await ask(agent, "car-1")).status).toBe(200);
  await adminOf(stack).configure("authentication.header.authority", fingerprintOf(authorities.root("next").cert));
  await eventually(async () => expect((await ask(agent, "car-1")).status).toBe(401), secondsMs);
  await adminOf(stack).configure("authentication.header.authority", fingerprintOf(root.cert));
  await eventually(async () => expect((await ask(agent, "car-1")).status).toBe(200), secondsMs);
  await adminOf(stack).configure("authentication.header.enabled", false);
  await eventually(async () => expect((await ask(agent, "car-1")).status).toBe(401), secondsMs);
  await adminOf(stack).configure("authentication.header.enabled", true);
  await eventually(async () => expect((await ask(agent, "car-1")).status).toBe(200), secondsMs);
  agent.destroy();
});

test("changed certificate files take effect without a restart", async () => {
  const next = authorities.root("next fleet");
  writeFileSync(path("ca.pem"), `${root.cert}${next.cert}`);
  await adminOf(stack).configure("authentication.header.authority", [root, next].map(({ cert }) => fingerprintOf(cert)).join(";"));
  const newer = next.issue("car-3");
  await eventually(async () => expect(await status("car-3", newer)).toBe(200), 15_000);
  expect(await status("car-1", one)).toBe(200);
});
