import type { ServerResponse } from "node:http";
import { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { beforeEach, expect, test } from "vitest";
import { OpenStreams, streamsOfUser } from "./open-streams.ts";

const user = (subject: string, more: Partial<Principal> = {}): Principal => ({
  tenantId: 1,
  tenant: "T",
  kind: "user",
  subject,
  permissions: ["READ_TARGET"],
  ...more,
});
const of: Record<string, Principal> = {
  ada: user("ada", { userId: 7 }),
  bob: user("bob", { userId: 8 }),
  external: user("ada", { issuer: "https://id.example" }),
  other: user("ada", { tenantId: 2, userId: 7 }),
};

let streams: OpenStreams;
/** Who has been signed in again, and whose streams have ended. */
let asked: string[];
let ended: string[];
beforeEach(() => {
  streams = new OpenStreams();
  [asked, ended] = [[], []];
});

/** Begins a stream that is signed in as before once, and then by `signIn`. */
async function begin(name: string, signIn: () => Promise<Principal>): Promise<() => void> {
  const res = { destroy: () => void ended.push(name) } as unknown as ServerResponse;
  const principal = of[name] ?? user(name);
  let begun = false;
  const leave = streams.begin(principal, res, async () => {
    if (!begun) return structuredClone(principal);
    asked.push(name);
    return await signIn();
  });
  await settled();
  begun = true;
  return leave;
}
const settled = () => new Promise(setImmediate);
const unauthenticated = () => Promise.reject(new HarrierError("unauthenticated"));

test.each<[string, { tenantId: number; userId: number } | undefined, string[]]>([
  ["of a user those of the user", { tenantId: 1, userId: 7 }, ["ada", "external"]],
  ["of a tenant those of all its users", { tenantId: 1, userId: 0 }, ["ada", "bob", "external"]],
  ["of a user of another tenant those of that one", { tenantId: 2, userId: 7 }, ["other"]],
  ["that was not heard of all", undefined, ["ada", "bob", "external", "other"]],
])("behind a change %s are checked, and of whom only an issuer knows", async (_what, change, expected) => {
  for (const name of Object.keys(of)) await begin(name, unauthenticated);
  if (change === undefined) streams.checkAll();
  else streams.check(change);
  await settled();
  expect([asked, ended]).toEqual([expected, expected]);
});

test.each<[string, () => Promise<Principal>, boolean]>([
  ["the same", async () => structuredClone(of["ada"] as Principal), false],
  ["less", async () => user("ada", { userId: 7, permissions: [] }), true],
  ["more", async () => user("ada", { userId: 7, permissions: ["READ_TARGET", "READ_ROLLOUT"] }), true],
  ["only some types of devices", async () => user("ada", { userId: 7, targetTypeScopes: { READ_TARGET: [3] } }), true],
  ["nothing, signed out", unauthenticated, true],
  ["something unknown", () => Promise.reject(new HarrierError("unavailable")), true],
])("a stream of a user who may see %s now has ended: %s", async (_what, signIn, isOver) => {
  await begin("ada", signIn);
  streams.check({ tenantId: 1, userId: 7 });
  await settled();
  expect(ended).toEqual(isOver ? ["ada"] : []);
});

test("changes that come while a stream is checked lead to one more check", async () => {
  const waiting: (() => void)[] = [];
  await begin("ada", () => new Promise((resolve) => waiting.push(() => resolve(of["ada"] as Principal))));
  for (let n = 0; n < 5; n += 1) streams.check({ tenantId: 1, userId: 7 });
  for (const answer of waiting.splice(0)) answer();
  await settled();
  for (const answer of waiting.splice(0)) answer();
  await settled();
  expect([asked, ended]).toEqual([["ada", "ada"], []]);
});

test("a change that was heard while the user was signed in ends the stream that begins", async () => {
  streams.begin(of["ada"] as Principal, { destroy: () => void ended.push("ada") } as unknown as ServerResponse, unauthenticated);
  await settled();
  expect(ended).toEqual(["ada"]);
});

test("one user has so many streams, whatever others have; one that is over makes room", async () => {
  const same = async () => of["ada"] as Principal;
  const leave = await Promise.all(Array.from({ length: streamsOfUser }, () => begin("ada", same)));
  await expect(begin("ada", same)).rejects.toMatchObject({ code: "tooManyRequests" });
  const others = [await begin("bob", same), await begin("external", same)];
  leave.pop()?.();
  leave.push(await begin("ada", same));
  expect(streams.isEmpty()).toBe(false);
  for (const one of [...leave, ...others]) one();
  expect(streams.isEmpty()).toBe(true);
});
