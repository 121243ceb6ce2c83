import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stack } from "@harrier/stack";
import { eventually, type OidcProvider, type OidcProviderOptions, oidcClientId, startOidcProvider, workspaceRoot } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { type Browser, createBrowser, type Page } from "./support/cookie-browser.ts";
import { adminOf, gatewayUrls } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// A browser signs in at a real provider by authorization code and PKCE, through two gateways (contract console.md §6, ADR 47).

let stack: Stack;
let provider: OidcProvider;
/** Read at each sign-in, so that a test can have short tokens. */
const offered: OidcProviderOptions = {
  users: [
    { name: "ann", roles: ["READ_TARGET"], tenant: "DEFAULT" },
    { name: "root", roles: ["management-full-access"], tenant: "DEFAULT" },
    { name: "stranger", roles: ["management-full-access"], tenant: "NOWHERE" },
  ],
};
let gateways: readonly string[];
let id: string;

beforeAll(async () => {
  provider = await startOidcProvider(offered);
  const issuers = [
    { issuer: provider.issuer, audience: "harrier", clientId: "harrier-console", deviceClientId: oidcClientId, name: "Our provider" },
    { issuer: "http://127.0.0.1:9", audience: "harrier" },
  ];
  stack = await startAnsweringStack({ replicas: { gateway: 2 }, gateway: { HARRIER_OIDC_ISSUERS: JSON.stringify(issuers) } });
  gateways = gatewayUrls(stack);
});
const homes: string[] = [];
afterAll(async () => {
  for (const home of homes) rmSync(home, { recursive: true });
  await stack?.stop();
  await provider?.stop();
});

const [first, second] = [() => gateways[0] as string, () => gateways[1] as string];

const isCallback = (url: URL) => url.pathname === "/console/auth/callback";
const isScreen = (url: URL) => url.pathname.startsWith("/console/") && !url.pathname.startsWith("/console/auth/");

/** Signs in at the provider; returns the address of the callback with its code, which has not been called yet. */
async function codeFor(browser: Browser, name: string, to = "/rollouts/5?tab=groups"): Promise<URL> {
  const login = await browser.open(new URL(`${first()}/console/auth/${id}?${new URLSearchParams({ to })}`), { until: isCallback });
  if (isCallback(login.url)) return login.url;
  return (await browser.open(login.url, { form: new URLSearchParams({ name, password: name }), until: isCallback })).url;
}
const statusWith = async (cookie: string, gateway = first()) =>
  (await fetch(`${gateway}/api/mgmt/v1/userinfo`, { headers: { cookie } })).status;
const errorOf = ({ url }: Page) => [url.pathname, url.searchParams.get("error")];

test("the sign-in page is told of issuers with a client alone", async () => {
  const config = (await (await fetch(`${first()}/console/config`)).json()) as { signIn: { issuers: { id: string; name: string }[] } };
  const device = { issuer: provider.issuer, clientId: oidcClientId, scopes: ["openid"] };
  expect(config.signIn.issuers).toEqual([{ id: expect.stringMatching(/^[0-9a-f]{12}$/), name: "Our provider", device }]);
  id = config.signIn.issuers[0]?.id ?? "";
  expect((await fetch(`${first()}/console/auth/unknown`)).status).toBe(404);
});

test("a browser signs in with PKCE, and comes back at another gateway to where it wanted to go", async () => {
  const browser = createBrowser();
  const begun = await fetch(`${first()}/console/auth/${id}?to=/console/devices`, { redirect: "manual" });
  const asked = new URL(begun.headers.get("location") ?? "").searchParams;
  expect(asked.get("code_challenge_method")).toBe("S256");
  expect(asked.get("redirect_uri")).toBe(`${first()}/console/auth/callback`);
  expect(begun.headers.getSetCookie()[0]).toMatch(/^harrier_sign_in=[\w-]+; Max-Age=600; Path=\/console\/auth; HttpOnly; SameSite=Lax$/);
  expect(decodeURIComponent(begun.headers.getSetCookie()[0] ?? "")).not.toContain(asked.get("state"));
  const callback = await codeFor(browser, "ann");
  const elsewhere = new URL(callback.pathname + callback.search, second());
  const back = await browser.open(elsewhere, { until: isScreen });
  expect(back.url.pathname + back.url.search).toBe("/console/rollouts/5?tab=groups");
  const cookie = back.answer.headers.getSetCookie().find((one) => one.startsWith("harrier_session="));
  expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
  // The session ends with the token.
  expect(Number(/Max-Age=(\d+)/.exec(cookie ?? "")?.[1])).toBeLessThanOrEqual(600);
  expect(browser.cookies.has("harrier_sign_in")).toBe(false);
  const answer = await fetch(`${first()}/api/mgmt/v1/userinfo`, { headers: { cookie: browser.header() } });
  expect(await answer.json()).toMatchObject({ username: "ann", kind: "user", issuer: provider.issuer, permissions: ["READ_TARGET"] });
});

test("who signs out is signed out at every gateway, and does not sign others of the tenant out", async () => {
  const [one, other] = [createBrowser(), createBrowser()];
  for (const browser of [one, other]) await browser.open(await codeFor(browser, "ann"), { until: isScreen });
  for (const gateway of gateways) expect(await statusWith(one.header(), gateway)).toBe(200);
  const headers = { cookie: one.header(), "x-harrier-console": "1" };
  expect((await fetch(`${first()}/console/session`, { method: "DELETE", headers })).status).toBe(204);
  for (const gateway of gateways) await eventually(async () => expect(await statusWith(one.header(), gateway)).toBe(401), 1_500, 20);
  expect(await statusWith(other.header(), second())).toBe(200);
});

test("console M22 who manages users ends no session whose token says more than they hold, and an administrator does", async () => {
  const browser = createBrowser();
  await browser.open(await codeFor(browser, "root"), { until: isScreen });
  const admin = adminOf(stack);
  const password = "a password of a manager";
  const manager = { name: "manager", password, permissions: ["USER_MANAGEMENT"] };
  const [root] = await admin.post<{ id: number }[]>("users", [{ name: "root", permissions: [] }, manager]);
  const [session] = await admin.get<{ id: number }[]>(`users/${root?.id}/sessions`);
  const authorization = `Basic ${Buffer.from(`manager:${password}`).toString("base64")}`;
  const path = `users/${root?.id}/sessions/${session?.id}`;
  expect((await fetch(`${first()}/api/mgmt/v1/${path}`, { method: "DELETE", headers: { authorization } })).status).toBe(403);
  expect(await statusWith(browser.header())).toBe(200);
  await admin.call(path, { method: "DELETE" });
  for (const gateway of gateways) await eventually(async () => expect(await statusWith(browser.header(), gateway)).toBe(401), 15_000, 20);
});

test("another state, a transaction of nobody and a code that was used open nothing", async () => {
  const browser = createBrowser();
  const callback = await codeFor(browser, "ann");
  const transaction = browser.cookies.get("harrier_sign_in") ?? "";
  const forged = new URL(callback);
  forged.searchParams.set("state", "x".repeat(43));
  const refused = async (url: URL, cookie: string) => {
    const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
    expect(answer.status).toBe(302);
    expect(answer.headers.getSetCookie().filter((one) => one.startsWith("harrier_session="))).toEqual([]);
    const next = new URL(answer.headers.get("location") ?? "", url);
    expect(next.origin).toBe(url.origin);
    return errorOf({ url: next, answer });
  };
  const own = `harrier_sign_in=${transaction}`;
  expect(await refused(forged, own)).toEqual(["/console/login", "state"]);
  expect(await refused(callback, "")).toEqual(["/console/login", "state"]);
  const flipped = `${transaction.slice(0, -2)}${transaction.endsWith("AA") ? "BB" : "AA"}`;
  expect(await refused(callback, `harrier_sign_in=${flipped}`)).toEqual(["/console/login", "state"]);
  // Another browser's code, with the transaction of this one: the verifier is another.
  const victim = createBrowser();
  const foreign = await codeFor(victim, "ann");
  const injected = new URL(callback);
  injected.searchParams.set("code", foreign.searchParams.get("code") ?? "");
  expect(await refused(injected, own)).toEqual(["/console/login", "denied"]);
  const opened = await fetch(callback, { redirect: "manual", headers: { cookie: own } });
  expect(opened.headers.getSetCookie().some((one) => one.startsWith("harrier_session=hrs_"))).toBe(true);
  expect(await refused(callback, own)).toEqual(["/console/login", "denied"]);
});

test.each([
  ["https://evil.example/x", "/console/"],
  ["//evil.example/x", "/console/"],
  ["/\\evil.example", "/console/"],
  ["/console/../oauth2/token", "/console/"],
  ["/console/auth/callback", "/console/"],
  ["javascript:alert(1)", "/console/"],
])("no page leads elsewhere after the sign-in: to=%s", async (to, screen) => {
  const browser = createBrowser();
  const back = await browser.open(await codeFor(browser, "ann", to), { until: isScreen });
  expect(back.url.origin).toBe(first());
  expect(back.url.pathname).toBe(screen);
});

test("who may not sign in comes back to the sign-in page, and it is in the audit trail", async () => {
  const browser = createBrowser();
  const back = await browser.open(await codeFor(browser, "stranger"), { until: isScreen });
  expect(errorOf(back)).toEqual(["/console/login", "denied"]);
  expect(browser.cookies.has("harrier_session")).toBe(false);
  await eventually(async () => {
    const { content } = await adminOf(stack).get<{ content: { details: { scheme?: string } }[] }>("audit?q=action==signIn");
    expect(content.map(({ details }) => details.scheme)).toContain("OpenID");
  }, 15_000);
});

test("a silent sign-in of nobody says that a login is needed; an issuer that is away is said to be so, and passwords still work", async () => {
  const silent = await createBrowser().open(new URL(`${first()}/console/auth/${id}?prompt=none`), { until: isScreen });
  expect(errorOf(silent)).toEqual(["/console/login", "login_required"]);
  const browser = createBrowser();
  const callback = await codeFor(browser, "ann");
  provider.setDown(true);
  try {
    expect(errorOf(await browser.open(callback, { until: isScreen }))).toEqual(["/console/login", "unavailable"]);
    expect((await fetch(`${first()}/console/auth/${id}`, { redirect: "manual" })).status).toBe(503);
    const body = JSON.stringify({ username: stack.adminUser, password: stack.adminPassword });
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${first()}/console/session`, { method: "POST", headers, body })).status).toBe(204);
  } finally {
    provider.setDown(false);
  }
});

/** Runs the built command line; `seen` gets what it has said so far on standard error. */
function harrier(args: readonly string[], env: Readonly<Record<string, string>>, seen: (text: string) => void = () => undefined) {
  const child = spawn(process.execPath, [join(workspaceRoot, "packages/cli/dist/harrier.js"), ...args], {
    env: { ...env, PATH: process.env["PATH"] ?? "" },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (part) => {
    stdout += part;
  });
  child.stderr.on("data", (part) => {
    stderr += part;
    seen(stderr);
  });
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

interface Kept {
  readonly token: string;
  readonly expiresAt: number;
  readonly refresh: { readonly token: string };
}

/** A home in which a person has signed in by device flow, and its configuration. */
async function signedIn(name: string) {
  const home = mkdtempSync(join(tmpdir(), "harrier-device-"));
  homes.push(home);
  const env = { XDG_CONFIG_HOME: home, HARRIER_SERVER: first() };
  let approved: Promise<void> | undefined;
  const login = await harrier(["login", "--issuer", "Our provider"], env, (text) => {
    const address = /Open (\S+) and see/.exec(text)?.[1];
    if (address !== undefined) approved ??= provider.approve(address, name);
  });
  await approved;
  expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining("tenant DEFAULT") });
  const file = join(home, "harrier", "config.yaml");
  const read = () => parse(readFileSync(file, "utf8")) as { contexts: { default: { auth: Kept } } };
  const write = (auth: Kept) => writeFileSync(file, stringify({ ...read(), contexts: { default: { server: first(), auth } } }));
  return { env, file, kept: () => read().contexts.default.auth, write };
}

test("the command line signs a person in by device flow, and gets the next token by itself", async () => {
  const { env, file, kept, write } = await signedIn("ann");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await harrier(["whoami"], env)).toMatchObject({ code: 0, stdout: expect.stringMatching(/ann\n.*READ_TARGET/s) });
  const before = kept();
  write({ ...before, expiresAt: 1 });
  expect(await harrier(["whoami"], env)).toMatchObject({ code: 0, stdout: expect.stringContaining("ann") });
  const next = kept();
  expect([next.token === before.token, next.refresh.token === before.refresh.token, next.expiresAt > Date.now()]).toEqual([
    false,
    false,
    true,
  ]);
  // The issuer takes each refresh token once: of two commands at the same time one gets the next one, and the other reads it.
  write({ ...kept(), expiresAt: 1 });
  const both = await Promise.all([harrier(["whoami"], env), harrier(["whoami"], env)]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  // A refresh token that the issuer does not know ends the sign-in, and says what to do.
  write({ ...kept(), expiresAt: 1, refresh: { ...next.refresh, token: "unknown" } });
  const ended = await harrier(["whoami"], env);
  expect(ended).toMatchObject({ code: 4, stderr: expect.stringContaining("harrier login") });
  expect(await harrier(["login", "--issuer", "Another"], env)).toMatchObject({ code: 64 });
});

test("a token that the server refuses before its end is replaced once, and the command goes on", async () => {
  const { env, kept, write } = await signedIn("ann");
  const before = kept();
  const [head, body] = before.token.split(".");
  write({ ...before, token: `${head}.${body}.${"A".repeat(86)}` });
  const ran = await harrier(["target", "list", "-v"], env);
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.stderr.match(/^\d{3} /gm)).toEqual(["401 ", "200 "]);
  expect(kept().refresh.token).not.toBe(before.refresh.token);
});

test("a wait that is longer than its token goes on with the next ones", async () => {
  offered.tokenTtl = 2;
  try {
    const { env, kept } = await signedIn("root");
    const admin = adminOf(stack);
    const [module] = await admin.post<{ id: number }[]>("softwaremodules", [{ name: "waited", version: "1", type: "os" }]);
    const [set] = await admin.post<{ id: number }[]>("distributionsets", [
      { name: "waited", version: "1", type: "os", modules: [{ id: module?.id }] },
    ]);
    await admin.post("targets", [{ controllerId: "waits" }]);
    const rollout = { name: "waited", distributionSetId: set?.id, targetFilterQuery: "controllerid==waits", amountGroups: 1 };
    await admin.post("rollouts", rollout);
    const seen = new Set<string>();
    const wait = harrier(["rollout", "wait", "waited", "--timeout", "12s", "-v"], env, () => seen.add(kept().token));
    // It looks every five seconds, and a token of two counts as ended after one.
    expect(await wait).toMatchObject({ code: 3, stderr: expect.stringContaining("is still ready") });
    expect(seen.size).toBeGreaterThanOrEqual(2);
  } finally {
    delete offered.tokenTtl;
  }
});
