import { createAdmin, uniqueName } from "@harrier/testkit";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, inject } from "vitest";
import { haveSession, type Login, type Visit, visit } from "./browser.ts";

/** The browser of the suite, for the tests of a file. */
export function useBrowser(): () => Browser {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.connect(inject("shared").browser);
  });
  afterAll(() => browser?.close());
  return () => browser;
}

/** The operator of the shared stack, who is the administrator of its first tenant. */
export function operator(): Login {
  const { baseUrl, adminPassword } = inject("shared");
  return { baseUrl, user: "admin", password: adminPassword };
}

/** Makes a tenant of the shared stack with an administrator: what is in it is what the file has put there. */
export async function makeTenant(name = uniqueName("tenant")): Promise<Login> {
  const { baseUrl, user, password } = operator();
  const [made] = await createAdmin({ baseUrl, user, password }).post<{ administrator: { password: string } }[]>("system/tenants", [
    { name, administrator: { name: "admin" } },
  ]);
  if (made === undefined) throw new Error("the tenant was not made");
  return { baseUrl, user: `${name}\\admin`, password: made.administrator.password };
}

/** A page of the administrator of a tenant that is made for it. */
export async function visitTenant(browser: Browser): Promise<Visit & { login: Login }> {
  const login = await makeTenant();
  const visited = await visit(browser);
  await haveSession(visited, login);
  return { ...visited, login };
}
