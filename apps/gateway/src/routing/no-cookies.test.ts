import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { identityHeader } from "@harrier/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { cookieName } from "../authentication/session/session-cookie.ts";
import { newSessionId } from "../authentication/session/session-id.ts";
import { type Edge, openEdge } from "./edge.fixture.ts";
import { createForward } from "./proxy.ts";
import { createSmallForward } from "./small-requests.ts";
import { createUpstreams, type Upstreams } from "./upstreams.ts";

// A service that sees the cookie of a session could act as its user, and whoever reads the service's log too (contract console.md §6).

let edge: Edge;
let service: Server;
let upstreams: Upstreams;
/** The lines of the head of each request that a service got. */
let heads: string[][];
const id = newSessionId();
const cookie = `${cookieName(false)}=${id}`;

beforeAll(async () => {
  service = createServer((req, res) => {
    const { rawHeaders: raw } = req;
    heads.push(raw.flatMap((name, at) => (at % 2 === 0 ? [`${name.toLowerCase()}: ${raw[at + 1]}`] : [])));
    req.resume().on("end", () => res.end());
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  upstreams = createUpstreams({ controller: url, management: url, "artifact-store": url, "rollout-engine": url });
  edge = await openEdge();
  const { deps } = edge;
  const options = {
    upstreams,
    agent: upstreams.agent,
    connections: upstreams.connections,
    idleMs: 3_000,
    onError: ({ error }: { error: Error }) => expect.fail(error.message),
  };
  const forward = createForward(options);
  const { authenticate } = deps;
  Object.assign(deps, {
    upstreams,
    forward,
    forwardDevice: createSmallForward(options),
    forwardTransfer: createForward({ ...options, transfers: { stallMs: 3_000 } }),
    // The session is that of a user of tenant 7.
    authenticate: (asked) => authenticate(asked.session === id ? { ...asked, authorization: "7 ann" } : asked),
  } satisfies Partial<typeof deps>);
});
afterAll(() => {
  edge.close();
  service.closeAllConnections();
  service.close();
  upstreams.stop();
});
beforeEach(() => {
  heads = [];
});

/** Sends a request with these header lines in this order, and answers its status. */
const send = (line: string, headers: readonly (readonly [string, string])[], body = "") =>
  new Promise<number | undefined>((resolve, reject) => {
    const [method, path] = line.split(" ");
    const lines = [["Host", "harrier.example"], ["Content-Length", String(body.length)], ...headers];
    const req = request({ host: "127.0.0.1", port: edge.port, method, path, headers: lines.flat(), agent: false }, (res) => {
      res.resume().on("end", () => resolve(res.statusCode));
    });
    req.on("error", reject);
    req.end(body);
  });

const json = ["Content-Type", "application/json"] as const;
const ours = ["X-Harrier-Console", "1"] as const;
const asDevice = ["Authorization", "7 dev-1"] as const;
const asUser = ["Authorization", "7 ann"] as const;
const device = "/T7/controller/v1/dev-1";

test.each([
  ["a read by cookie", "GET /api/mgmt/v1/targets", [], ""],
  ["a read by cookie in hawkBit's dialect", "GET /rest/v1/targets", [], ""],
  ["a change by cookie", "POST /api/mgmt/v1/targets", [json, ours], "[]"],
  ["a read with another credential", "GET /api/mgmt/v1/targets", [asUser], ""],
  ["a poll", `GET ${device}`, [asDevice], ""],
  ["a report", `PUT ${device}/configData`, [asDevice, json], "{}"],
  ["a download", `GET ${device}/softwaremodules/1/artifacts/a.bin`, [asDevice], ""],
  ["a token request", "POST /oauth2/token", [["Content-Type", "application/x-www-form-urlencoded"]], "grant_type=client_credentials"],
  ["a read of the keys", "GET /oauth2/jwks", [], ""],
] as const)("%s reaches its service without the cookie", async (_name, line, headers, body) => {
  // A client may write the name as it likes, have several, and say that they are of this connection alone.
  for (const cookies of [
    [["Cookie", cookie]],
    [
      ["COOKIE", "a=b"],
      ["cookie", cookie],
    ],
    [
      ["Cookie", cookie],
      ["Connection", "keep-alive, cookie"],
    ],
  ] as const)
    expect(await send(line, [...cookies, ...headers], body)).toBe(200);
  expect(heads).toHaveLength(3);
  for (const head of heads) {
    expect(head.filter((one) => one.startsWith("cookie") || one.includes(id))).toEqual([]);
    // The services get in its place who it is, where the gateway knows it.
    expect(head.some((one) => one.startsWith(`${identityHeader}: `))).toBe(!line.includes("/oauth2/"));
  }
});
