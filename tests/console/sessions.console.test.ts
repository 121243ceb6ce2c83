import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDevice, uniqueName } from "@harrier/testkit";
import { beforeAll, expect, test } from "vitest";
import { haveSession, type Login, openPage, signIn, visit } from "./support/browser.ts";
import { adminOf, makeDevices } from "./support/fleet.ts";
import { makeTenant, useBrowser } from "./support/suite.ts";

// Who is signed in, how that ends, and what no other site can do with it.

const browser = useBrowser();
let login: Login;

beforeAll(async () => {
  login = await makeTenant();
});

test("the session is a cookie that no script reads, a forged write is refused, and signing out ends it", async () => {
  const { page, context } = await visit(browser());
  await signIn(page, login);
  expect(await page.evaluate(() => document.cookie)).toBe("");
  const write = (headers: Record<string, string>) =>
    page.evaluate(
      async (given) =>
        (await fetch("/api/mgmt/v1/targettags", { method: "POST", headers: { "content-type": "application/json", ...given }, body: "[]" }))
          .status,
      headers,
    );
  expect(await write({})).toBe(403);
  expect(await write({ "x-harrier-console": "1" })).toBe(201);
  await page.getByRole("button", { name: "Sign out" }).press("Enter");
  await page.getByLabel("User name").waitFor();
  expect(await page.evaluate(async () => (await fetch("/api/mgmt/v1/userinfo")).status)).toBe(401);
  await context.close();
});

test("whoever ends the session of the page signs in again", async () => {
  const { page, context } = await visit(browser());
  await signIn(page, login);
  await page.goto(`${login.baseUrl}/console/me`);
  await page.getByRole("row", { name: "This session" }).getByRole("button", { name: "End" }).press("Enter");
  await page.getByRole("alertdialog").getByRole("button", { name: "End" }).press("Enter");
  await page.getByLabel("User name").waitFor();
  expect(await page.evaluate(async () => (await fetch("/api/mgmt/v1/userinfo")).status)).toBe(401);
  await context.close();
});

test("a wrong password is said, and the address that was asked for is reached after the right one", async () => {
  const { page, context } = await visit(browser());
  await page.goto(`${login.baseUrl}/console/devices?q=name==nobody`);
  await page.getByLabel("User name").fill(login.user);
  await page.getByLabel("Password").fill("certainly not it");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Password").fill(login.password);
  await page.keyboard.press("Enter");
  await page.getByText("Nothing matches").waitFor();
  expect(new URL(page.url()).pathname).toBe("/console/devices");
  await context.close();
});

test("whose session is ended elsewhere is asked to sign in, and comes back to the same page", async () => {
  const visited = await visit(browser());
  const { page, context } = visited;
  await haveSession(visited, login);
  await openPage(page, login.baseUrl, "/devices");
  const mine = await page.evaluate(async () => (await (await fetch("/api/mgmt/v1/me/sessions")).json()) as { id: number }[]);
  for (const { id } of mine) await adminOf(login).call(`me/sessions/${id}`, { method: "DELETE" });
  await expect.poll(() => page.evaluate(async () => (await fetch("/api/mgmt/v1/userinfo")).status)).toBe(401);
  // A page that asks by itself is at the sign-in already; another one is with its next question.
  await page.reload();
  await page.getByLabel("User name").waitFor();
  await page.getByLabel("User name").fill(login.user);
  await page.getByLabel("Password").fill(login.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Devices" }).waitFor();
  await context.close();
});

test("a sign-out that the server does not take is said, and the page stays", async () => {
  const visited = await visit(browser());
  const { page, context } = visited;
  await haveSession(visited, login);
  await openPage(page, login.baseUrl, "/devices");
  await page.route("**/console/session", (route) => route.fulfill({ status: 503, body: "" }));
  await page.getByRole("button", { name: "Sign out" }).press("Enter");
  await page
    .getByRole("status")
    .getByText(/503|not available|did not answer/)
    .waitFor();
  expect(new URL(page.url()).pathname).toBe("/console/devices");
  await page.unroute("**/console/session");
  await page.getByRole("button", { name: "Sign out" }).press("Enter");
  await page.getByLabel("User name").waitFor();
  await context.close();
});

test("a tab shows nothing of who was signed in before, once somebody else has signed in beside it", async () => {
  const visited = await visit(browser());
  const { page, context } = visited;
  const other = { ...login, user: `${login.user.split("\\")[0]}\\other`, password: "another long password" };
  await adminOf(login).post("users", [{ name: "other", password: other.password, permissions: ["READ_TARGET"] }]);
  await haveSession(visited, login);
  await openPage(page, login.baseUrl, "/devices");
  const beside = await context.newPage();
  await signIn(beside, other);
  const who = page
    .getByRole("navigation")
    .locator("..")
    .getByRole("link", { name: /^other/ });
  await who.waitFor();
  await context.close();
});

test.each(["__proto__", "constructor", "provider"])("the sign-in is there whatever went wrong before: %s", async (error) => {
  const { page, context, complaints } = await visit(browser());
  await page.goto(`${login.baseUrl}/console/login?error=${error}`);
  await page.getByRole("alert").waitFor();
  await page.getByLabel("User name").waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("a page of another site changes nothing with the cookie of this one, by form, fetch or beacon", async () => {
  const visited = await visit(browser());
  const { page, context } = visited;
  await haveSession(visited, login);
  await openPage(page, login.baseUrl, "/devices");
  const name = uniqueName("forged");
  const body = JSON.stringify([{ name }]);
  const target = `${login.baseUrl}/api/mgmt/v1/targettags`;
  // `localhost` is another site than 127.0.0.1, at which the console is open.
  const evil = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    const value = body.replaceAll('"', "&quot;");
    answer.end(`<form method="post" enctype="text/plain" action="${target}"><input name="${value}" value=""></form>`);
  });
  await new Promise<void>((resolve) => evil.listen(0, resolve));
  try {
    await page.goto(`http://localhost:${(evil.address() as AddressInfo).port}/`);
    const read = await page.evaluate(
      async ([url, text]) => {
        const send = (mode: RequestMode, headers: Record<string, string>) =>
          fetch(url, { method: "POST", mode, credentials: "include", headers, body: text }).then(
            (answer) => answer.type,
            () => "refused by the browser",
          );
        navigator.sendBeacon(url, text);
        return [
          await send("no-cors", { "content-type": "text/plain" }),
          await send("cors", { "content-type": "application/json", "x-harrier-console": "1" }),
        ];
      },
      [target, body] as const,
    );
    expect(read).toEqual(["opaque", "refused by the browser"]);
    const sent = page.waitForResponse((answer) => answer.url() === target);
    await page.evaluate(() => document.forms[0]?.submit());
    expect([401, 403]).toContain((await sent).status());
  } finally {
    evil.close();
  }
  expect(await adminOf(login).get(`targettags?q=name==${name}`)).toMatchObject({ total: 0 });
  await context.close();
});

test("a tenant that is called console has its devices and its console at the same address", async () => {
  const own = await makeTenant("console");
  const [made] = await makeDevices(adminOf(own), "here", 1);
  const device = createDevice({ baseUrl: own.baseUrl, tenant: "console", controllerId: "here-000", token: made?.token ?? "" });
  await expect.poll(async () => (await device.call("")).status).toBe(200);
  const visited = await visit(browser());
  await haveSession(visited, own);
  await openPage(visited.page, own.baseUrl, "/devices/here-000");
  await visited.page.getByRole("heading", { level: 1, name: "here-000" }).waitFor();
  expect(visited.complaints).toEqual([]);
  await visited.context.close();
});
