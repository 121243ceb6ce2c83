import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { createEgress, parseAllowed } from "@harrier/egress";
import { Authorities, type Pair } from "@harrier/testkit";
import { afterEach, expect, test } from "vitest";

const authorities = new Authorities();
const servers: Server[] = [];
const trusted = getCACertificates("default");
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  setDefaultCACertificates(trusted);
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
});

/** Calls a server of this machine, which shows this certificate, by a name; answers what came of it, and how many requests it got. */
async function call({ cert, key }: Pair, name: string): Promise<[answer: unknown, requests: number]> {
  let requests = 0;
  const server = createServer({ cert, key }, (_req, res) => {
    requests += 1;
    res.end("ok");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const egress = createEgress({ allowed: parseAllowed("T@127.0.0.1"), resolve: async () => [{ address: "127.0.0.1", family: 4 }] });
  const url = `https://${name}:${(server.address() as AddressInfo).port}/`;
  const answer = await egress.request({ tenant: "T", url, timeoutMs: 5_000, maxBytes: 100 }).then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
  return [answer, requests];
}

test("only who shows a certificate of a known authority in the name that was called gets a request", async () => {
  const ours = authorities.root("known");
  setDefaultCACertificates([...trusted, ours.cert]);
  const ofUs = ours.issue("receiver", "server");
  expect(await call(ofUs, "localhost")).toEqual([200, 1]);
  expect(await call(ofUs, "receiver.example")).toEqual(["The call failed: ERR_TLS_CERT_ALTNAME_INVALID.", 0]);
  const old = ours.issue("receiver", "server", { from: new Date(Date.now() - 9 * 86_400_000), to: new Date(Date.now() - 86_400_000) });
  expect(await call(old, "localhost")).toEqual(["The call failed: CERT_HAS_EXPIRED.", 0]);
  const strange = authorities.root("strange").issue("receiver", "server");
  expect(await call(strange, "localhost")).toEqual(["The call failed: UNABLE_TO_VERIFY_LEAF_SIGNATURE.", 0]);
  expect(await call(authorities.selfSigned("localhost", "server"), "localhost")).toEqual([
    "The call failed: DEPTH_ZERO_SELF_SIGNED_CERT.",
    0,
  ]);
});

test("the environment of a process cannot switch the check off", async () => {
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  const [answer, requests] = await call(authorities.selfSigned("localhost", "server"), "localhost");
  expect([answer, requests]).toEqual(["The call failed: DEPTH_ZERO_SELF_SIGNED_CERT.", 0]);
});
