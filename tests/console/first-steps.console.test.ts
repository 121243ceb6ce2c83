import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { uniqueName, workspaceRoot } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { haveSession, openPage, visit } from "./support/browser.ts";
import { adminOf } from "./support/fleet.ts";
import { makeTenant, operator, useBrowser } from "./support/suite.ts";

// What somebody sees who has started Harrier a minute ago and reads nothing: the overview of a tenant without devices leads to an updated one.

const browser = useBrowser();
let simulator: ChildProcess | undefined;

afterAll(async () => {
  if (simulator === undefined || simulator.exitCode !== null) return;
  const ended = once(simulator, "exit");
  simulator.kill("SIGTERM");
  await ended;
});

const step = (page: Page, name: string) => page.getByRole("listitem").filter({ hasText: name });

test("the overview of a new tenant leads to an updated device", { timeout: 180_000 }, async () => {
  const login = await makeTenant();
  const visited = await visit(browser());
  const { page, complaints, context } = visited;
  await haveSession(visited, login);
  const admin = adminOf(login);

  await openPage(page, login.baseUrl, "/");
  await page.getByRole("heading", { name: "Welcome to Harrier" }).waitFor();
  // Nothing can need anybody yet, so that nothing stands before the first step.
  await expect.poll(() => page.getByRole("heading", { level: 2 }).allTextContents()).toEqual(["Welcome to Harrier"]);
  const token = () => admin.get<{ value: string }>("system/configs/authentication.gatewaytoken.key");
  expect(await token()).toMatchObject({ value: "" });
  await page.getByRole("button", { name: "Show the command" }).press("Enter");
  const command = (await page.locator("code", { hasText: "npm run simulate" }).textContent()) ?? "";
  expect(command).toContain(`--gateway-token ${(await token()).value}`);
  // What npm hands to the simulator, without the build that it begins with.
  const [, options = ""] = command.split("npm run simulate -- ");
  simulator = spawn(process.execPath, [join(workspaceRoot, "packages/simulator/dist/cli.js"), "run", ...options.split(" ")], {
    stdio: "ignore",
  });
  await step(page, "Let devices poll").getByText("Done").waitFor({ timeout: 30_000 });

  const name = uniqueName("first");
  const file = join(tmpdir(), `${name}.bin`);
  await writeFile(file, name.repeat(1_000));
  await page.getByRole("link", { name: "To the modules" }).press("Enter");
  await page.getByRole("button", { name: "New module" }).first().press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Version").fill("1.0");
  await dialog.getByLabel("Type").selectOption("os");
  await dialog.getByRole("button", { name: "Create" }).press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByText("SHA-256").first().waitFor();

  const [module] = (await admin.get<{ content: { id: number }[] }>("softwaremodules")).content;
  await expect.poll(async () => (await admin.get<unknown[]>(`softwaremodules/${module?.id}/artifacts`)).length).toBe(1);
  await admin.post("distributionsets", [{ name, version: "1.0", type: "os", modules: [{ id: module?.id }] }]);
  await openPage(page, login.baseUrl, "/");
  await step(page, "Put a file").getByText("Done").waitFor();

  // The only set and every device are chosen already.
  await page.getByRole("listitem").filter({ hasText: "Roll the set out" }).getByRole("link", { name: "New rollout" }).press("Enter");
  const search = new URL(page.url()).searchParams;
  // The router writes a text that looks like a number in quotes.
  const [set, q] = [search.get("set")?.replaceAll('"', ""), search.get("q")];
  expect(q).toBe("controllerid==*");
  const rollout = await admin.post<{ id: number }>("rollouts", {
    name,
    distributionSetId: Number(set),
    targetFilterQuery: q,
    amountGroups: 1,
  });
  const status = async () => (await admin.get<{ status: string }>(`rollouts/${rollout.id}`)).status;
  await expect.poll(status, { timeout: 30_000 }).toBe("ready");
  await admin.post(`rollouts/${rollout.id}/start`);
  await openPage(page, login.baseUrl, "/");
  await page
    .getByRole("link", { name: new RegExp(`^${name}`) })
    .first()
    .waitFor({ timeout: 60_000 });
  await page.getByText("Welcome to Harrier").waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
  await context.close();
});

test("whoever may not change settings reads why there is no command", async () => {
  const login = await makeTenant();
  const [user, password] = [uniqueName("reader"), "a password of a reader"];
  await adminOf(login).post("users", [{ name: user, password, permissions: ["READ_TARGET"] }]);
  const visited = await visit(browser());
  await haveSession(visited, { ...login, user: `${login.user.split("\\")[0]}\\${user}`, password });
  await openPage(visited.page, operator().baseUrl, "/");
  const button = visited.page.getByRole("button", { name: "Show the command" });
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  expect(await button.getAttribute("data-why")).toContain("READ_TENANT_CONFIGURATION");
  await visited.context.close();
});
