import type { Stack } from "@harrier/stack";
import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callsServed } from "./support/metrics.ts";
import { cookieOf, type Headers, json, own, pageSessions } from "./support/page-sessions.ts";
import { adminOf, basicOf, gatewayUrls, replicasOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// Sessions by cookie and by token, through two gateways and two replicas of management (contract console.md §6, ADR 47).

let stack: Stack;
let gateways: readonly string[];
const password = "a password for sessions";

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: { gateway: 2, management: 2 } });
  gateways = gatewayUrls(stack);
  const names = ["ann", "bob", "eve", "ida", "max"];
  await adminOf(stack).post(
    "users",
    names.map((name) => ({ name, password, permissions: ["READ_TARGET", "CREATE_TARGET"] })),
  );
});
afterAll(() => stack?.stop());

const [first, second] = [() => gateways[0] as string, () => gateways[1] as string];
const { post, signIn, token, session, api } = pageSessions(first, password);
const createTarget = (controllerId: string, headers: Headers) =>
  api({ ...json, ...headers }, first(), "targets", { method: "POST", body: JSON.stringify([{ controllerId }]) });
const statusOf = async (answer: Promise<Response>) => (await answer).status;

test("a page signs in by password and reads as its user; the cookie is out of reach of scripts and other sites", async () => {
  const answer = await post({ username: "ann", password }, { "sec-fetch-site": "same-origin" });
  expect(answer.headers.getSetCookie()).toHaveLength(1);
  expect(answer.headers.getSetCookie()[0]).toMatch(
    /^harrier_session=hrs_[A-Za-z0-9_-]{43}; Max-Age=43\d{3}; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  expect(answer.headers.get("cache-control")).toBe("no-store");
  const cookie = cookieOf(answer);
  for (const gateway of gateways) {
    expect(await (await api({ cookie }, gateway)).json()).toMatchObject({ tenant: "DEFAULT", username: "ann", kind: "user" });
    const shown = (await (await session({ cookie }, gateway)).json()) as Record<string, number>;
    expect(shown).toMatchObject({ username: "ann", tenant: "DEFAULT" });
    expect(shown["expiresAt"]).toBeGreaterThan(Date.now() + 43_000_000);
    expect(shown["idleExpiresAt"]).toBeGreaterThan(Date.now() + 3_500_000);
  }
});

test("a known session costs no call", async () => {
  const cookie = await signIn("ann");
  await api({ cookie });
  const resolved = () => callsServed(replicasOf(stack, "management"), "harrier.management.v1.IdentityService", "resolveSession");
  const before = await resolved();
  for (let n = 0; n < 20; n += 1) expect(await statusOf(api({ cookie }))).toBe(200);
  expect(await resolved()).toBe(before);
});

test("behind TLS the cookie is one that only this host can set, and the other name counts no more", async () => {
  const answer = await fetch(`${first()}/console/config`);
  expect(answer.status).toBe(200);
  const trusting = await startAnsweringStack({ gateway: { HARRIER_TRUSTED_PROXIES: "127.0.0.1", HARRIER_CONSOLE: "none" } });
  try {
    const { adminUser: username, adminPassword, baseUrl } = trusting;
    const tls = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" };
    const signedIn = await post({ username, password: adminPassword }, tls, baseUrl);
    expect(signedIn.headers.getSetCookie()[0]).toMatch(/^__Host-harrier=hrs_.*; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
    const cookie = cookieOf(signedIn);
    expect(await statusOf(api({ cookie, ...tls }, baseUrl))).toBe(200);
    expect(await statusOf(api({ cookie: cookie.replace("__Host-harrier", "harrier_session"), ...tls }, baseUrl))).toBe(401);
  } finally {
    await trusting.stop();
  }
});

test("each sign-in makes a new id, whatever the browser had before, and ends what it had", async () => {
  const planted = `harrier_session=hrs_${"A".repeat(43)}`;
  const cookie = await signIn("bob", { cookie: planted });
  expect(cookie).not.toBe(planted);
  expect(await statusOf(api({ cookie: planted }))).toBe(401);
  const next = await signIn("bob", { cookie });
  expect(next).not.toBe(cookie);
  expect(await statusOf(api({ cookie }))).toBe(401);
  expect(await statusOf(api({ cookie: next }))).toBe(200);
});

test("who signs out at one gateway is signed out at the other within a second, and other sessions stay", async () => {
  const [cookie, other] = [await signIn("eve"), await signIn("eve")];
  for (const gateway of gateways) expect(await statusOf(api({ cookie }, gateway))).toBe(200);
  const ended = await session({ cookie, ...own }, first(), "DELETE");
  const at = Date.now();
  expect(ended.status).toBe(204);
  expect(ended.headers.getSetCookie()[0]).toMatch(/^harrier_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(ended.headers.get("clear-site-data")).toBe('"cache", "storage"');
  expect(await statusOf(api({ cookie }, first()))).toBe(401);
  await eventually(async () => expect(await statusOf(api({ cookie }, second()))).toBe(401), 1_500, 20);
  expect(Date.now() - at).toBeLessThan(1_500);
  for (const gateway of gateways) expect(await statusOf(api({ cookie: other }, gateway))).toBe(200);
  expect(await statusOf(session({ cookie, ...own }, second(), "DELETE"))).toBe(204);
});

test("a new password ends the user's sessions everywhere", async () => {
  const admin = adminOf(stack);
  const [user] = await admin.post<{ id: number }[]>("users", [{ name: "kim", password, permissions: ["READ_TARGET"] }]);
  const cookie = await signIn("kim");
  const bearer = { authorization: `Bearer ${await token("kim")}` };
  for (const gateway of gateways) expect(await statusOf(api({ cookie }, gateway))).toBe(200);
  await admin.call(`users/${user?.id}/password`, { method: "PUT", body: { newPassword: "another one for kim" } });
  for (const gateway of gateways)
    for (const credential of [{ cookie }, bearer])
      await eventually(async () => expect(await statusOf(api(credential, gateway))).toBe(401), 5_000, 20);
});

test("who loses a permission loses it in the sessions that run, which stay open and get it back", async () => {
  const admin = adminOf(stack);
  const permissions = ["READ_TARGET", "READ_REPOSITORY"];
  const [user] = await admin.post<{ id: number }[]>("users", [{ name: "pam", password, permissions }]);
  const credentials: Headers[] = [{ cookie: await signIn("pam") }, { authorization: `Bearer ${await token("pam")}` }];
  const everywhere = gateways.flatMap((gateway) => credentials.map((credential) => ({ credential, gateway })));
  const targets = () => Promise.all(everywhere.map(({ credential, gateway }) => statusOf(api(credential, gateway, "targets"))));
  // All gateways know the sessions, with what they may do.
  expect(await targets()).toEqual([200, 200, 200, 200]);
  await admin.call(`users/${user?.id}/permissions/READ_TARGET`, { method: "DELETE" });
  await eventually(async () => expect(await targets()).toEqual([403, 403, 403, 403]), 1_500, 20);
  for (const { credential, gateway } of everywhere) {
    expect(await (await api(credential, gateway)).json()).toMatchObject({ username: "pam", permissions: ["READ_REPOSITORY"] });
    expect(await statusOf(api(credential, gateway, "distributionsets"))).toBe(200);
  }
  await admin.call(`users/${user?.id}/permissions`, { method: "POST", body: ["READ_TARGET"] });
  await eventually(async () => expect(await targets()).toEqual([200, 200, 200, 200]), 1_500, 20);
});

test("who loses a permission, signs out or is deleted gets no more events, whatever stream is open", async () => {
  const admin = adminOf(stack);
  const names = ["pat", "ron", "tim"];
  const users = await admin.post<{ id: number }[]>(
    "users",
    names.map((name) => ({ name, password, permissions: ["READ_TARGET", "READ_ROLLOUT", "READ_REPOSITORY"] })),
  );
  const cookies = await Promise.all(names.map((name) => signIn(name)));
  const streams = await Promise.all(
    [...cookies, await signIn("pat", {}, second())].map(async (cookie, n) => {
      const answer = await api({ cookie }, n === 3 ? second() : first(), "events/stream?changes=true");
      expect(answer.status).toBe(200);
      let over = false;
      const end = () => {
        over = true;
      };
      answer.body?.pipeTo(new WritableStream()).then(end, end);
      return () => over;
    }),
  );
  const areOver = () => streams.map((over) => over());
  await session({ cookie: cookies[0] as string, ...own }, second(), "DELETE");
  // The other session is still good for its stream.
  await eventually(() => expect(areOver()).toEqual([true, false, false, false]), 2_000, 20);
  await admin.call(`users/${users[1]?.id}/permissions/READ_TARGET`, { method: "DELETE" });
  await eventually(() => expect(areOver()).toEqual([true, true, false, false]), 2_000, 20);
  await admin.call(`users/${users[2]?.id}`, { method: "DELETE" });
  await eventually(() => expect(areOver()).toEqual([true, true, true, false]), 2_000, 20);
});

test("a session that its user or an administrator ends elsewhere is over at all gateways within a second, and others stay", async () => {
  const admin = adminOf(stack);
  const [user] = await admin.post<{ id: number }[]>("users", [{ name: "sue", password, permissions: ["READ_TARGET"] }]);
  const [cookie, lost, stolen] = [await signIn("sue"), await signIn("sue"), await signIn("sue")];
  for (const gateway of gateways) for (const one of [cookie, lost, stolen]) expect(await statusOf(api({ cookie: one }, gateway))).toBe(200);
  const listed = async (one: string, gateway = first()) =>
    (await (await api({ cookie: one }, gateway, "me/sessions")).json()) as { id: number; current: boolean }[];
  const idOf = async (one: string) => (await listed(one, second())).find(({ current }) => current)?.id;
  const isOver = async (one: string) => {
    for (const gateway of gateways)
      await eventually(async () => expect(await statusOf(api({ cookie: one }, gateway))).toBe(401), 1_500, 20);
  };
  expect(await listed(cookie)).toHaveLength(3);
  const end = (sessionId: number | undefined, headers: Headers) =>
    statusOf(api({ cookie, ...headers }, first(), `me/sessions/${sessionId}`, { method: "DELETE" }));
  const lostId = await idOf(lost);
  // A page of another site cannot end it.
  expect(await end(lostId, {})).toBe(403);
  expect(await end(lostId, own)).toBe(200);
  await isOver(lost);
  await admin.call(`users/${user?.id}/sessions/${await idOf(stolen)}`, { method: "DELETE" });
  await isOver(stolen);
  expect(await listed(cookie)).toMatchObject([{ current: true }]);
  for (const gateway of gateways) expect(await statusOf(api({ cookie }, gateway))).toBe(200);
});

test("a change by cookie needs our page: forged ones are 403 and change nothing, also from a sibling site", async () => {
  const cookie = await signIn("ida");
  const forged: Headers[] = [
    { cookie },
    { cookie, "x-harrier-console": "1", "sec-fetch-site": "cross-site" },
    { cookie, "x-harrier-console": "1", "sec-fetch-site": "same-site" },
    { cookie, "x-harrier-console": "true", "sec-fetch-site": "same-origin" },
    { cookie, "sec-fetch-site": "same-origin" },
  ];
  for (const headers of forged) {
    const answer = await createTarget("forged", headers);
    expect(answer.status).toBe(403);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    expect(await answer.json()).toMatchObject({ errorCode: "hawkbit.server.error.insufficientPermission" });
  }
  expect(await statusOf(session({ cookie, "sec-fetch-site": "cross-site", "x-harrier-console": "1" }, first(), "DELETE"))).toBe(403);
  expect(await statusOf(api({ cookie }, first(), "targets/forged"))).toBe(404);
  for (const site of [{ "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }, {}] as Headers[])
    expect(await statusOf(createTarget(`real-${Object.values(site)[0] ?? "absent"}`, { cookie, "x-harrier-console": "1", ...site }))).toBe(
      201,
    );
});

test("nobody is signed in by another site: no form can send it, and no page of another origin may", async () => {
  const body = JSON.stringify({ username: "ann", password });
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
    expect(await statusOf(fetch(`${first()}/console/session`, { method: "POST", headers: { "content-type": type }, body }))).toBe(415);
  const cross = await post({ username: "ann", password }, { "sec-fetch-site": "cross-site" });
  expect([cross.status, cross.headers.getSetCookie()]).toEqual([403, []]);
  const preflight = await fetch(`${first()}/console/session`, {
    method: "OPTIONS",
    headers: { origin: "https://evil.example", "access-control-request-method": "POST", "access-control-request-headers": "content-type" },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([405, null]);
});

test("a cookie is nothing to devices' paths, downloads and the token endpoint, and no service sees one", async () => {
  const cookie = await signIn("max");
  expect(await statusOf(fetch(`${first()}/DEFAULT/controller/v1/dev-1`, { headers: { cookie, ...own } }))).toBe(401);
  const download = `${first()}/DEFAULT/controller/v1/dev-1/softwaremodules/1/artifacts/a.bin`;
  expect(await statusOf(fetch(download, { headers: { cookie } }))).toBe(401);
  const form = { method: "POST", headers: { cookie, "content-type": "application/x-www-form-urlencoded" } };
  expect(await statusOf(fetch(`${first()}/oauth2/token`, { ...form, body: "grant_type=client_credentials" }))).toBe(400);
  // A credential of its own is what a request is judged by, even a wrong one.
  expect(await statusOf(api({ cookie, authorization: "Basic bm9ib2R5Ondyb25n" }))).toBe(401);
  expect(await (await api({ cookie, authorization: basicOf(stack) })).json()).toMatchObject({ username: stack.adminUser });
});

test("an id counts only as what it was made for", async () => {
  const cookie = await signIn("max");
  const id = cookie.replace("harrier_session=", "");
  const cli = await token("max");
  expect(await statusOf(api({ authorization: `Bearer ${id}` }))).toBe(401);
  expect(await statusOf(api({ cookie: `harrier_session=${cli}` }))).toBe(401);
  expect(await statusOf(fetch(`${first()}/DEFAULT/controller/v1/dev-1`, { headers: { authorization: `Bearer ${cli}` } }))).toBe(401);
  const bearer = { authorization: `Bearer ${cli}` };
  // Nothing of a browser is asked of a token, which no page sends by itself.
  expect(await statusOf(createTarget("by-token", { ...bearer, "sec-fetch-site": "cross-site" }))).toBe(201);
  expect(await (await session(bearer)).json()).toMatchObject({ username: "max" });
  expect(await statusOf(session(bearer, first(), "DELETE"))).toBe(204);
  for (const gateway of gateways) await eventually(async () => expect(await statusOf(api(bearer, gateway))).toBe(401), 1_500, 20);
});

test("without a session a page is told so in a scheme that opens no password box; tools are asked for Basic as ever", async () => {
  const challenge = async (headers: Headers) => (await api(headers)).headers.get("www-authenticate");
  expect(await challenge({ "sec-fetch-site": "same-origin" })).toBe("Session");
  expect(await challenge({ "sec-fetch-site": "none" })).toBe('Basic realm="hawkBit"');
  expect(await challenge({})).toBe('Basic realm="hawkBit"');
  expect(await statusOf(session({}))).toBe(401);
  expect(await statusOf(session({ cookie: "harrier_session=hrs_short" }))).toBe(401);
});

test.each([
  ["no JSON", "{", 400],
  ["a member too many", { username: "ann", password, admin: true }, 400],
  ["no password", { username: "ann" }, 400],
  ["another kind", { username: "ann", password, kind: "device" }, 400],
  ["more than 4 KiB", { username: "ann", password: "x".repeat(4_096) }, 413],
  ["a wrong password", { username: "ann", password: "wrong" }, 401],
  ["an unknown user", { username: "nobody", password }, 401],
  ["an unknown tenant", { username: "NOWHERE\\ann", password }, 401],
  ["a control character", { username: "ann\u0000", password }, 401],
])("%s opens nothing: %#", async (_name, body, status) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(`${first()}/console/session`, { method: "POST", headers: json, body: text });
  expect([answer.status, answer.headers.getSetCookie()]).toEqual([status, []]);
});

test("failed sign-ins count with all others of the name, are in the audit trail, and who has signed in once stays able to", async () => {
  await signIn("bob");
  const outcomes: Record<number, number> = {};
  let answer: Response | undefined;
  for (let n = 0; n < 24; n += 1) {
    const asked = n % 2 === 0 ? post({ username: "bob", password: `wrong ${n}` }) : api({ authorization: basic("bob", `wrong ${n}`) });
    answer = await asked;
    outcomes[answer.status] = (outcomes[answer.status] ?? 0) + 1;
  }
  expect(outcomes[401]).toBeLessThanOrEqual(20);
  expect(outcomes[429]).toBeGreaterThanOrEqual(4);
  expect(Number(answer?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  await signIn("bob");
  const query = new URLSearchParams({ q: "action==signIn;actor==bob" });
  await eventually(async () => {
    const { content } = await adminOf(stack).get<{ content: { details: { scheme: string } }[] }>(`audit?${query}`);
    expect(content.map(({ details }) => details.scheme)).toContain("Session");
  }, 15_000);
});

const basic = (name: string, secret: string) => `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`;
