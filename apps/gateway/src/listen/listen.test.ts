import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, type AgentOptions, request } from "node:https";
import type { AddressInfo } from "node:net";
import { connect } from "node:tls";
import { Authorities, type Authority, fingerprintOf, type Pair } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ClientCertificates } from "./client-certificates.ts";
import { takeChanges } from "./follow-files.ts";
import { closeServer, createTlsServer, listen, type TlsFiles } from "./listen.ts";

const authorities = new Authorities();
let root: Authority;
let vendor: Authority;
let other: Authority;
let own: Pair;
let device: Pair;
let files: TlsFiles;
let now = Date.now();
let certificates: ClientCertificates;
let server: ReturnType<typeof createTlsServer>;

beforeAll(async () => {
  root = authorities.root("root");
  vendor = authorities.below(root, "vendor");
  other = authorities.root("other");
  own = root.issue("gateway", "server");
  device = root.issue("dev-1");
  files = { cert: own.cert, key: own.key, clientCa: root.cert };
}, 60_000);
beforeEach(async () => {
  now = Date.now();
  certificates = new ClientCertificates(root.cert, () => now);
  const app = (req: IncomingMessage, res: ServerResponse) => res.end(JSON.stringify(certificates.of(req.socket) ?? null));
  server = createTlsServer(app, files, certificates);
  await listen(server, 0, "127.0.0.1");
  return () => closeServer(server);
});
afterAll(() => authorities.close());

const port = () => (server.address() as AddressInfo).port;
const agentOf = (pair?: Partial<Pair>, more: AgentOptions = {}) =>
  new Agent({ ca: root.cert, ...(pair === undefined ? {} : pair), maxSockets: 1, keepAlive: true, ...more });
const ask = (agent: Agent) =>
  new Promise<unknown>((resolve, reject) => {
    const req = request({ host: "127.0.0.1", port: port(), agent }, (res) => {
      let text = "";
      res.on("data", (chunk) => {
        text += chunk;
      });
      res.on("end", () => resolve(JSON.parse(text)));
    });
    req.on("error", reject);
    req.end();
  });
async function seen(pair?: Partial<Pair>, more?: AgentOptions): Promise<unknown> {
  const agent = agentOf(pair, more);
  try {
    return await ask(agent);
  } finally {
    agent.destroy();
  }
}
const hashes = (...issuers: Authority[]) =>
  issuers.flatMap(({ cert }) => [fingerprintOf(cert), (fingerprintOf(cert).match(/../g) ?? []).join(":")]).join(",");
const chain = (pair: Pair, ...above: Authority[]) => ({ ...pair, cert: [pair, ...above].map(({ cert }) => cert).join("") });

test("a device has the name in its certificate, and as issuers all authorities above it", async () => {
  expect(await seen(device)).toEqual({ name: "dev-1", issuers: hashes(root) });
  const below = chain(vendor.issue("dev-2"), vendor);
  // An intermediate authority that the operator does not know issues nothing.
  expect(await seen(below)).toBeNull();
  certificates.replaceAuthorities(root.cert + vendor.cert);
  expect(await seen(below)).toEqual({ name: "dev-2", issuers: hashes(vendor, root) });
  // An unrelated authority does not become an issuer by being sent along.
  expect(await seen(chain(device, other))).toEqual({ name: "dev-1", issuers: hashes(root) });
});

test("an invalid certificate counts as none, and the connection stays open", async () => {
  const years = (from: number, to: number) => ({ from: new Date(Date.UTC(from, 0)), to: new Date(Date.UTC(to, 0)) });
  const wrong: Record<string, Pair | undefined> = {
    none: undefined,
    "of another authority": other.issue("dev-1"),
    "its own": authorities.selfSigned("dev-1"),
    expired: root.issue("dev-1", "device", years(2011, 2012)),
    "of the future": root.issue("dev-1", "device", years(2090, 2091)),
    "a server's": root.issue("dev-1", "server"),
    "of an authority by its name alone": authorities.root("root").issue("dev-1"),
    "below one that was not sent": vendor.issue("dev-1"),
    "below one that may issue none": chain(authorities.below(root, "x").issue("dev-1"), { ...device, issue: root.issue }),
  };
  for (const [what, pair] of Object.entries(wrong)) expect(await seen(pair), what).toBeNull();
});

test("a key that does not belong to the certificate ends the handshake", async () => {
  await expect(seen({ cert: device.cert, key: other.key })).rejects.toThrow();
});

test("on a kept connection a certificate ends when it expires, and when its authority is removed", async () => {
  const agent = agentOf(device);
  expect(await ask(agent)).toMatchObject({ name: "dev-1" });
  now += 31 * 24 * 60 * 60 * 1_000;
  expect(await ask(agent)).toBeNull();
  now = Date.now();
  expect(await ask(agent)).toMatchObject({ name: "dev-1" });
  certificates.replaceAuthorities(other.cert);
  expect(await ask(agent)).toBeNull();
  agent.destroy();
});

test("sessions are not resumed: each connection shows its certificate anew", async () => {
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    const once = (session?: Buffer) =>
      new Promise<{ session: Buffer | undefined; reused: boolean }>((resolve, reject) => {
        const options = { host: "127.0.0.1", port: port(), ca: root.cert, ...device, maxVersion, ...(session && { session }) };
        let latest: Buffer | undefined;
        let reused = false;
        const socket = connect(options, () => {
          reused = socket.isSessionReused();
          latest ??= socket.getSession();
          socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        });
        socket.on("session", (ticket) => {
          latest = ticket;
        });
        socket.on("error", reject);
        socket.on("close", () => resolve({ session: latest, reused }));
        socket.resume();
      });
    const { session } = await once();
    expect((await once(session)).reused, maxVersion).toBe(false);
  }
});

test("changed files take effect without a restart; files that cannot be used change nothing", async () => {
  const logged: string[] = [];
  const log = { info: (text: string) => logged.push(text), warn: (_: unknown, text: string) => logged.push(text) };
  let next: TlsFiles = files;
  const take = (current: TlsFiles) => takeChanges({ server, certificates, read: () => next, log: log as never }, current);
  expect([take(files), logged]).toEqual([files, []]);
  next = { ...files, key: "nonsense" };
  expect(take(files)).toBe(files);
  expect(await seen(device)).toMatchObject({ name: "dev-1" });
  next = { ...other.issue("gateway", "server"), clientCa: other.cert };
  expect(take(files)).toBe(next);
  expect(logged).toHaveLength(2);
  expect(await seen(device, { ca: other.cert })).toBeNull();
  expect(await seen(other.issue("dev-9"), { ca: other.cert })).toEqual({ name: "dev-9", issuers: hashes(other) });
});

test("without authorities no client certificate is requested", async () => {
  await closeServer(server);
  server = createTlsServer(
    (req, res) => void res.end(JSON.stringify(certificates.of(req.socket) ?? null)),
    { ...files, clientCa: undefined },
    certificates,
  );
  await listen(server, 0, "127.0.0.1");
  expect(await seen(device)).toBeNull();
});

test("answers over TLS tell browsers to use only TLS", async () => {
  const header = await new Promise((resolve, reject) => {
    const req = request({ host: "127.0.0.1", port: port(), agent: agentOf() }, (res) => {
      res.resume();
      resolve(res.headers["strict-transport-security"]);
    });
    req.on("error", reject);
    req.end();
  });
  expect(header).toBe("max-age=31536000");
});
