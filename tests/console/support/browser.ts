import { installChromium } from "@harrier/testkit";
import { type Browser, type BrowserContext, type BrowserServer, chromium, type LaunchOptions, type Page } from "playwright-core";

export type Theme = "light" | "dark";

/** Who signs in where. */
export interface Login {
  readonly baseUrl: string;
  readonly user: string;
  readonly password: string;
}

async function launchOptions(): Promise<LaunchOptions> {
  const { executable, env, args } = await installChromium();
  return { executablePath: executable, args: [...args], env: { ...process.env, ...env } as Record<string, string> };
}

/** Starts Debian's Chromium without a window. */
export const startBrowser = async (): Promise<Browser> => chromium.launch(await launchOptions());

/** The same for several processes, which connect to it. */
export const startBrowserServer = async (): Promise<BrowserServer> => chromium.launchServer(await launchOptions());

/** A page of a browser of its own, and everything that it complained about. */
export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors of scripts, and violations of the Content-Security-Policy. */
  readonly complaints: string[];
}

/** Opens a page that has no cookie yet. Failed requests are not complaints: the console shows them. */
export async function visit(browser: Browser, { theme = "light" as Theme, width = 1360, height = 900 } = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) =>
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`),
    );
  });
  return { context, page, complaints };
}

/** Opens a session without the page of the sign-in. */
export async function haveSession({ context }: Pick<Visit, "context">, { baseUrl, user, password }: Login): Promise<void> {
  const headers = { "sec-fetch-site": "same-origin" };
  const answer = await context.request.post(`${baseUrl}/console/session`, { headers, data: { username: user, password, kind: "browser" } });
  if (answer.status() !== 204) throw new Error(`no session: ${answer.status()} ${await answer.text()}`);
}

/** Opens a page of the console, and waits until its heading is there and what it has asked for. */
export async function openPage(page: Page, baseUrl: string, path: string): Promise<void> {
  await page.goto(`${baseUrl}/console${path}`);
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => document.querySelector("[role=status][aria-label=Loading]") === null);
}

/** Waits until the page has drawn what it knows. */
export const frames = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));

/** Signs in by keyboard. */
export async function signIn(page: Page, { baseUrl, user, password }: Login): Promise<void> {
  await page.goto(`${baseUrl}/console/login`);
  await page.getByLabel("User name").focus();
  await page.keyboard.type(user);
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await page.locator("#content").waitFor();
}
