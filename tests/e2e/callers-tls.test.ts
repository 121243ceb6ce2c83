import { Agent, request } from "node:https";
import { basePaths, isEventStream, isTransfer, type Route, routes } from "@harrier/contracts";
import { actingOf, hosts, type KeySet, type RpcTls, type ServiceName, serviceNames, unboundBody } from "@harrier/rpc";
import type { Stack } from "@harrier/stack";
import { createDevice, eventually, startTestStack } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Forger, methodsOf, protoServices, refused, renamed } from "./support/forger.ts";
import { callOnTheWire } from "./support/grpc-wire.ts";
import { administrator, deviceNamed, keysOf, signedHeaders } from "./support/identity.ts";
import { adminOf, allowTargetTokens, replicaOf } from "./support/replicas.ts";
import { makeServiceCertificates, type ServiceCertificates } from "./support/service-certificates.ts";

// Between hosts, mutual TLS accepts a service only with both the keys and the certificate of its name (architecture §2).

let certificates: ServiceCertificates;
let stack: Stack;
let forger: Forger;

beforeAll(async () => {
  certificates = makeServiceCertificates();
  stack = await startTestStack(certificates.options);
  forger = new Forger(stack, certificates.of);
});
afterAll(async () => {
  for (const agent of agents.values()) agent.destroy();
  await stack?.stop();
  certificates?.close();
});

const owners = ["controller", "management", "artifact-store", "rollout-engine"] as const;
type Owner = (typeof owners)[number];
const othersThan = (service: ServiceName): ServiceName[] => serviceNames.filter((one) => one !== service);

/** A handshake that the server breaks off ends like this, with or without a reason. */
const cutOff = /certificate required|unknown ca|ECONNRESET|socket hang up|closed without an answer/i;
/** A handshake that the client breaks off ends like this. */
const distrust = /certificate/i;

/** There is a connection for each certificate: what is denied per request must be denied on every request. */
const agents = new Map<RpcTls, Agent>();
function agentOf(tls: RpcTls): Agent {
  const agent = agents.get(tls) ?? new Agent({ keepAlive: true, ...tls });
  agents.set(tls, agent);
  return agent;
}

interface Requested {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
}

/** Returns the status of an HTTP request to a service itself; rejects where the handshake fails. */
const ask = async (owner: Owner, agent: Agent, requested: Requested): Promise<number> => (await answerOf(owner, agent, requested)).status;

function answerOf(owner: Owner, agent: Agent, { method, path, headers = {} }: Requested): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: replicaOf(stack, owner).httpPort, agent, method, path, headers, timeout: 20_000 };
    const req = request(options, (res) => {
      let text = "";
      res.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      res.on("end", () => resolve({ status: res.statusCode as number, text }));
      res.on("error", reject);
    });
    req.on("timeout", () => req.destroy(new Error(`no answer to ${method} ${path}`)));
    req.on("error", reject);
    req.end();
  });
}

const deviceId = "device-of-the-routes";
const valuesOf: Readonly<Record<string, string>> = { tenant: "DEFAULT", controllerId: deviceId };

/** Makes a request to a route, as one device or about things that do not exist, signed for the owner of the route under the gateway's name. */
function requestTo(route: Route, keys: KeySet): Requested {
  const base = route.interface === "device" ? "" : basePaths.spec;
  // a stream of events goes on until the time that is asked for
  const query = isEventStream(route) ? "?seconds=1" : "";
  const path = base + route.path.replaceAll(/:(\w+)/g, (_, name: string) => valuesOf[name] ?? "999999999") + query;
  const principal = route.interface === "device" ? deviceNamed(deviceId) : administrator;
  const content = isTransfer(route) ? { content: unboundBody } : {};
  const { method } = route;
  return { method, path, headers: signedHeaders(keys, principal, { audience: route.service, method, path, ...content }) };
}

/** Signs as the gateway, with a key of `holder`: the gateway's own where it has that one, else the one of its own calls there, else any. */
function keysAsGateway(holder: ServiceName, audience: ServiceName): KeySet {
  const own: ReadonlyMap<string, unknown> = keysOf(stack, holder);
  const keyRing = own.get(`gateway/${audience}`) ?? own.get(`${holder}/${audience}`) ?? [...own.values()][0];
  return renamed(`gateway/${audience}`, keyRing);
}

test("requests of devices and users are served", async () => {
  const api = adminOf(stack);
  await eventually(() => allowTargetTokens(stack));
  const { controllerId, securityToken } = await eventually(() => api.createTarget());
  await eventually(async () => {
    const poll = await createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken }).call("");
    expect(poll.status).toBe(200);
  });
  const { total } = await api.get<{ total: number }>(`targets?q=controllerId==${controllerId}`);
  expect(total).toBe(1);
  // The request goes through artifact-store and back by gRPC.
  await api.createSetWithFile();
  expect(await api.get("rollouts")).toMatchObject({ content: [] });
});

describe.each(protoServices)("gRPC: %s", (service) => {
  test.each(methodsOf(service))(
    "%s is done for callers in the table, with the keys and the certificate of that service",
    async (method) => {
      for (const holder of serviceNames) await forger.checkAgainstTable(holder, service, method);
    },
  );

  test("no service can call in the name of another with the keys and the certificate that it has", async () => {
    for (const holder of othersThan(hosts[service])) await forger.checkOtherNames(holder, service);
  });

  test.each(methodsOf(service))("%s: right keys with the certificate of another service are denied", async (method) => {
    for (const caller of serviceNames.filter((one) => actingOf(one, service, method) !== undefined)) {
      const person = actingOf(caller, service, method) === "itself" ? {} : { person: administrator };
      const keys = keysOf(stack, caller);
      for (const other of othersThan(caller)) {
        const answer = await forger.callAs(service, method, { caller, keys, ...person, tls: certificates.of(other) });
        expect(answer, `${caller} with the certificate of ${other}`).toEqual(refused);
      }
    }
  });

  test("without a certificate of our authority no connection gets as far as a call", async () => {
    const method = methodsOf(service)[0] as string;
    const caller = serviceNames.find((one) => actingOf(one, service, method) !== undefined) as ServiceName;
    const call = (tls: Partial<RpcTls>) => forger.callAs(service, method, { caller, tls });
    await expect(call({ ca: certificates.ca }), "none").rejects.toThrow(cutOff);
    await expect(call(certificates.foreignOf(caller)), "of another authority").rejects.toThrow(cutOff);
    await expect(call({ ...certificates.of(caller), ca: certificates.strangeCa }), "who trusts another one").rejects.toThrow(distrust);
    const plain = { port: replicaOf(stack, hosts[service]).grpcPort as number };
    await expect(callOnTheWire(plain, "/", forger.metadataOf(service, method, { caller })), "not TLS").rejects.toThrow();
  });
});

describe.each(owners)("HTTP: %s", (owner) => {
  const own = routes.filter(({ service }) => service === owner);

  test("every route denies all callers but the gateway", async () => {
    const gateway = keysOf(stack, "gateway");
    for (const route of own) {
      for (const holder of othersThan("gateway")) {
        const its = () => requestTo(route, keysAsGateway(holder, owner));
        const statuses = {
          "with its own keys and certificate": await ask(owner, agentOf(certificates.of(holder)), its()),
          "with the gateway's keys and its own certificate": await ask(owner, agentOf(certificates.of(holder)), requestTo(route, gateway)),
          // The owner of a route has the key with which it verifies the gateway, so it can deceive itself only.
          ...(holder !== owner && {
            "with its own keys and the gateway's certificate": await ask(owner, agentOf(certificates.of("gateway")), its()),
          }),
        };
        for (const [how, status] of Object.entries(statuses)) expect([route.id, holder, how, status]).toEqual([route.id, holder, how, 503]);
      }
    }
  });

  test("every route answers the gateway", async () => {
    if (owner === "controller") await adminOf(stack).createTarget({ controllerId: deviceId }); // An unknown device gets 401.
    const gateway = keysOf(stack, "gateway");
    for (const route of own) {
      const { status, text } = await answerOf(owner, agentOf(certificates.of("gateway")), requestTo(route, gateway));
      // without a broker messaging is 503 for a reason of its own, unless a body is missing
      if (route.id === "messaging.setPasswords") expect(status, text).toBe(400);
      else if (route.id.startsWith("messaging."))
        expect([status, text], route.id).toEqual([503, expect.stringContaining("hawkbit.server.error.amqp.notAvailable")]);
      else expect([401, 403, 503], `${route.id}: ${status}`).not.toContain(status);
    }
  });

  test("any service with a certificate of ours may ask for health, and nobody else", async () => {
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      for (const holder of serviceNames) expect(await ask(owner, agentOf(certificates.of(holder)), { method: "GET", path })).toBe(200);
      const call = (tls: Partial<RpcTls>) => ask(owner, new Agent(tls), { method: "GET", path });
      await expect(call({ ca: certificates.ca }), "none").rejects.toThrow(cutOff);
      await expect(call(certificates.foreignOf("gateway")), "of another authority").rejects.toThrow(cutOff);
      await expect(call({ ...certificates.of("gateway"), ca: certificates.strangeCa }), "who trusts another one").rejects.toThrow(distrust);
      await expect(fetch(`http://127.0.0.1:${replicaOf(stack, owner).httpPort}${path}`), "not TLS").rejects.toThrow();
    }
  });
});
