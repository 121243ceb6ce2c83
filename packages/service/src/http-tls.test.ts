import { readFileSync } from "node:fs";
import { request } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import type { RpcTls } from "@harrier/rpc";
import { identityHeaders } from "@harrier/rpc";
import { afterAll, beforeAll, expect, it } from "vitest";
import { path, registerRoutes } from "../test-support/routes.ts";
import { deviceIdentity, keys, type Served, serve } from "../test-support/serve.ts";

// these are the certificates of rpc's own tests
const file = (name: string) => readFileSync(new URL(`../../rpc/fixtures/${name}`, import.meta.url), "utf8");
const tlsFor = (name: string): RpcTls => ({ cert: file(`${name}.pem`), key: file(`${name}.key`), ca: file("ca.pem") });

let served: Served;
beforeAll(async () => {
  served = await serve(registerRoutes, { tls: tlsFor("controller") });
});
afterAll(() => served.http.close(0));

function statusOf(certificate: RpcTls, url: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: served.port, path: url, headers, agent: false, servername: "localhost", ...certificate };
    const req = request({ ...options, checkServerIdentity: () => undefined }, (res) => {
      res.resume();
      resolve(res.statusCode);
    });
    req.on("error", reject);
    req.end();
  });
}

it("serves routes only to the gateway's certificate, whatever is signed, and probes to every certificate of our authority", async () => {
  const signed = () => ({ ...identityHeaders(keys, deviceIdentity("GET", path)) });
  expect(await statusOf(tlsFor("gateway"), path, signed())).toBe(200);
  expect(await statusOf(tlsFor("management"), path, signed())).toBe(503);
  expect(await statusOf(tlsFor("management"), "/no/such/route")).toBe(503);
  for (const probe of ["/livez", "/readyz", "/metrics"]) expect(await statusOf(tlsFor("management"), probe)).toBe(200);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

it("serves probes and metrics without TLS on the metrics port, and no route there", async () => {
  const metricsPort = await freePort();
  const other = await serve(registerRoutes, { tls: tlsFor("controller"), metricsPort, drain: { pauseMs: 1, transfersMs: 0 } });
  const ask = (url: string, init?: RequestInit) => fetch(`http://127.0.0.1:${metricsPort}${url}`, init);
  for (const probe of ["/livez", "/readyz", "/metrics"]) expect((await ask(probe)).status).toBe(200);
  expect((await ask(path, { headers: identityHeaders(keys, deviceIdentity("GET", path)) })).status).toBe(404);
  await other.http.drain();
  expect([(await ask("/readyz")).status, (await ask("/livez")).status]).toEqual([503, 200]);
  await other.http.close(0);
  await expect(ask("/livez")).rejects.toThrow("fetch failed");
});
