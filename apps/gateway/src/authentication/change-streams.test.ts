import type { ServerResponse } from "node:http";
import { createClient, createRpcServer, type Handlers, type Principal, parseKeys } from "@harrier/rpc";
import { afterEach, expect, test } from "vitest";
import { OpenStreams } from "../routing/open-streams.ts";
import { followChanges } from "./change-streams.ts";
import { DeviceCache } from "./device-cache.ts";
import { PrincipalCache } from "./principal-cache.ts";

const keys = parseKeys(["controller", "management"].map((to) => `gateway/${to}=k1:${Buffer.alloc(32, 1).toString("base64")}`).join(";"));
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const slowly = { timeout: 8_000 };
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const unasked = (): never => {
  throw new Error("nobody asks this here");
};
const heartbeat = { heartbeat: true, revision: 1 };
let open: number;
/** Tells whoever follows users of a change. */
let change: (userId: number) => void;

/** Sends a heartbeat at once and then often, until the caller goes. */
async function beatFor(signal: AbortSignal, send: () => unknown): Promise<void> {
  open += 1;
  send();
  const beats = setInterval(send, 50);
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  clearInterval(beats);
  open -= 1;
}

const ofDevices: Handlers<"harrier.controller.v1.DeviceIdentityService"> = {
  verifyDevice: unasked,
  watchCredentialChanges: (_request, ctx, send) => beatFor(ctx.signal, () => void send(heartbeat)),
};
const ofUsers: Handlers<"harrier.management.v1.IdentityService"> = {
  signIn: unasked,
  resolveToken: unasked,
  signInClient: unasked,
  readTokenKeys: unasked,
  openSession: unasked,
  resolveSession: unasked,
  closeSession: unasked,
  noteSessionUses: unasked,
  noteApiKeyUses: unasked,
  noteNode: unasked,
  noteRefusals: unasked,
  watchPrincipalChanges: (_request, ctx, send) => {
    change = (userId) => void send({ tenantId: 1, userId, revision: 9 });
    return beatFor(ctx.signal, () => void send(heartbeat));
  },
};

/** Follows two owners, of which only the streams are there, with a cache of devices. */
async function following({ ttlSeconds = 600 } = {}) {
  open = 0;
  const common = { host: "127.0.0.1", port: 0, keys, log } as const;
  const controller = createRpcServer({ ...common, service: "controller" }).add("harrier.controller.v1.DeviceIdentityService", ofDevices);
  const management = createRpcServer({ ...common, service: "management" }).add("harrier.management.v1.IdentityService", ofUsers);
  const [controllerPort, managementPort] = [await controller.start(), await management.start()];
  const client = { caller: "gateway", keys } as const;
  const deviceIdentity = createClient("harrier.controller.v1.DeviceIdentityService", {
    ...client,
    addresses: `127.0.0.1:${controllerPort}`,
  });
  const identity = createClient("harrier.management.v1.IdentityService", { ...client, addresses: `127.0.0.1:${managementPort}` });
  const devices = new DeviceCache({ ttlSeconds: 600, now: Date.now });
  const principals = new PrincipalCache({ ttlSeconds });
  const events = new OpenStreams();
  const streams = followChanges({ devices, principals, open: events, deviceIdentity, identity });
  ends.push(
    () => Promise.all([controller.stop(0), management.stop(0)]),
    () => deviceIdentity.close(),
    () => identity.close(),
    () => streams.stop(),
  );
  const keep = () => {
    const device = { tenantId: 1, tenant: "DEFAULT", scheme: "TargetToken" } as const;
    devices.keep(device, { controllerId: "d", digest: devices.digest("t"), revision: 5, generation: devices.generation });
  };
  const keepUser = () => {
    const principal = { tenantId: 1, tenant: "DEFAULT", kind: "user", subject: "admin", permissions: [] } as unknown as Principal;
    principals.keep("digest", { principal, userId: 7, revision: 5, generation: principals.generation });
  };
  /** Begins a stream of events of a user; answers whether it has been ended. */
  const begin = (userId: number) => {
    let ended = false;
    const principal: Principal = { tenantId: 1, tenant: "DEFAULT", kind: "user", subject: `user ${userId}`, userId, permissions: [] };
    let asked = 0;
    // It is signed in when it begins, and signed out afterwards.
    const signIn = async () => {
      if (asked++ > 0) throw new Error("signed out");
      return principal;
    };
    const res = { destroy: () => leave() } as unknown as ServerResponse;
    const over = events.begin(principal, res, signIn);
    const leave = () => {
      ended = true;
      over();
    };
    return () => ended;
  };
  return { streams, principals, begin, keepUser, keep, found: () => devices.lookup("DEFAULT", "d", devices.digest("t")) !== undefined };
}

test("at rest nothing is followed and nothing that was cached is trusted, and nothing is cached", async () => {
  const { streams, keep, found } = await following();
  await expect.poll(() => streams.heardBoth(), slowly).toBe(true);
  keep();
  expect(found()).toBe(true);
  streams.rest();
  expect(found()).toBe(false);
  keep();
  expect(found()).toBe(false);
  await expect.poll(() => open, slowly).toBe(0);
  expect(streams.heardBoth()).toBe(true);
});

test("after a rest both owners are followed again, once each, and what is verified from then on is cached", async () => {
  const { streams, keep, found } = await following();
  await expect.poll(() => streams.heardBoth(), slowly).toBe(true);
  streams.rest();
  await expect.poll(() => open, slowly).toBe(0);
  streams.follow();
  streams.follow();
  await expect.poll(() => open, slowly).toBe(2);
  await expect
    .poll(() => {
      keep();
      return found();
    }, slowly)
    .toBe(true);
  expect(open).toBe(2);
});

test("users whose sign-in is known are followed on at rest, until it is over", async () => {
  const { streams, principals, keepUser } = await following({ ttlSeconds: 0.3 });
  await expect.poll(() => streams.heardBoth(), slowly).toBe(true);
  keepUser();
  streams.rest();
  expect(principals.lookup("digest")).toBeDefined();
  await expect.poll(() => open, slowly).toBe(1);
  await expect.poll(() => principals.lookup("digest"), slowly).toBeUndefined();
  streams.rest();
  await expect.poll(() => open, slowly).toBe(0);
});

test("streams of events are checked behind a change of their user, and are followed on at rest", async () => {
  const { streams, begin } = await following();
  await expect.poll(() => streams.heardBoth(), slowly).toBe(true);
  const [ofOne, ofOther] = [begin(7), begin(8)];
  streams.rest();
  await expect.poll(() => open, slowly).toBe(1);
  change(7);
  await expect.poll(ofOne, slowly).toBe(true);
  expect(ofOther()).toBe(false);
});

test("behind an interruption all streams of events are checked, because a change in the gap would be missed", async () => {
  const { streams, begin } = await following();
  await expect.poll(() => streams.heardBoth(), slowly).toBe(true);
  streams.rest();
  await expect.poll(() => open, slowly).toBe(0);
  const ended = begin(7);
  streams.follow();
  await expect.poll(ended, slowly).toBe(true);
});

test("a gateway that has not reached both owners goes on trying", async () => {
  const { streams } = await following();
  streams.rest();
  await expect.poll(() => open, slowly).toBe(2);
});

test("what has ended follows nothing any more", async () => {
  const { streams } = await following();
  await expect.poll(() => open, slowly).toBe(2);
  streams.stop();
  streams.follow();
  await expect.poll(() => open, slowly).toBe(0);
});
