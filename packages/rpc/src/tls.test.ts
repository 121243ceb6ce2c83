import { readFileSync } from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { createClient } from "./client.ts";
import { servicePrincipal } from "./identity.ts";
import { parseKeys } from "./keys.ts";
import { createRpcServer } from "./server.ts";
import type { OutCall, RpcTls } from "./types.ts";

const file = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");
const tlsFor = (name: string): RpcTls => ({ cert: file(`${name}.pem`), key: file(`${name}.key`), ca: file("ca.pem") });
const keys = parseKeys(
  ["gateway", "management", "rollout-engine"]
    .map((caller) => `${caller}/controller=k1:${Buffer.alloc(32, caller).toString("base64")}`)
    .join(";"),
);
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const service = "harrier.controller.v1.TargetsService";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function call(clientTls: RpcTls | undefined): Promise<string> {
  const server = createRpcServer({ service: "controller", host: "127.0.0.1", port: 0, keys, log, tls: tlsFor("controller") });
  const unused = () => Promise.reject(new Error("not expected"));
  server.add(service, {
    createTargets: unused,
    updateTarget: unused,
    readSecurityTokens: unused,
    activateAutoConfirm: unused,
    deactivateAutoConfirm: unused,
    changeTag: unused,
    changeGroup: unused,
    eraseTenantTargets: unused,
    importTargets: unused,
    addMetadata: unused,
    changeMetadata: unused,
    removeMetadata: unused,
    deleteTargets: unused,
    changeTargetsById: unused,
    deleteTargetsById: async () => ({ deleted: 1 }),
  });
  const port = await server.start();
  const tls = clientTls === undefined ? {} : { tls: clientTls };
  const client = createClient(service, { caller: "management", addresses: `127.0.0.1:${port}`, keys, ...tls });
  cleanups.push(
    () => server.stop(0),
    () => client.close(),
  );
  const out: OutCall = { principal: servicePrincipal("management"), rid: "r-1", deadline: Date.now() + 3_000 };
  return client.deleteTargetsById({ targetIds: [1] }, out).then(
    ({ deleted }) => `deleted ${deleted}`,
    (error: { code: string }) => error.code,
  );
}

it("a caller with the certificate of its own name is served", async () => {
  expect(await call(tlsFor("management"))).toBe("deleted 1");
});

it("a caller with the certificate of another service is refused, whatever its identity claims", async () => {
  expect(await call(tlsFor("gateway"))).toBe("identityRefused");
});

it("a caller without a certificate is refused", async () => {
  expect(await call(undefined)).toBe("unavailable");
});
