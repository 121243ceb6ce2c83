// Lighthouse of the sign-in and of a list of devices: `npm run check:lighthouse`. It starts a stack and a browser of its own, and wants the machine to
// itself. Of several runs the median counts; what is found is printed, and a score below its bound is exit 1.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@harrier/stack";
import { installChromium, startTestStack } from "@harrier/testkit";
import lighthouse, { desktopConfig, type Result } from "lighthouse";
import { type BrowserContext, chromium } from "playwright-core";
import { haveSession } from "./browser.ts";
import { adminOf, loginOf, makeMany } from "./fleet.ts";

const bounds = { performance: 0.9, accessibility: 1, "best-practices": 1 } as const;
type Category = keyof typeof bounds;
const categories = Object.keys(bounds) as Category[];
const runs = 3;
const devices = 2_000;
/** The stream of changes stays open, so that the network never falls silent: a page is taken as loaded after so many milliseconds. */
const quietMs = 10_000;

/** A browser with a profile of its own, in which Lighthouse opens its tabs, on the port of its debugger. */
async function startBrowser(profile: string, port: number): Promise<BrowserContext> {
  const { executable, env, args } = await installChromium();
  const all = { ...process.env, ...env } as Record<string, string>;
  return chromium.launchPersistentContext(profile, {
    executablePath: executable,
    args: [...args, `--remote-debugging-port=${port}`],
    env: all,
  });
}

/** The audits of a category that are not what they could be, with what they say of it. */
function findings({ categories: all, audits }: Result, category: Category): string[] {
  const below = (all[category]?.auditRefs ?? []).filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 1);
  return below.map(({ id }) => {
    const { title = id, displayValue = "", details } = audits[id] ?? {};
    const items = details !== undefined && "items" in details ? JSON.stringify(details.items).slice(0, 600) : "";
    return `  ${category}: ${title} ${displayValue} ${category === "performance" ? "" : items}`.trimEnd();
  });
}

const median = (scores: readonly number[]): number => scores.toSorted((a, b) => a - b)[Math.floor(scores.length / 2)] ?? 0;

/** Measures one page several times, prints it, and answers whether it keeps its bounds. */
async function measure(url: string, page: string, port: number): Promise<boolean> {
  const results: Result[] = [];
  for (let run = 0; run < runs; run++) {
    const done = await lighthouse(url, { port, onlyCategories: categories, logLevel: "error", maxWaitForLoad: quietMs }, desktopConfig);
    if (done === undefined || done.lhr.runtimeError !== undefined) throw new Error(`${page}: ${done?.lhr.runtimeError?.message}`);
    const [asked, shown] = [new URL(url).pathname, new URL(done.lhr.finalDisplayedUrl).pathname];
    if (asked !== shown) throw new Error(`${asked} led to ${shown}`);
    results.push(done.lhr);
  }
  const rows = categories.map((category) => {
    const scores = results.map(({ categories: all }) => all[category]?.score ?? 0);
    return { category, scores, ok: median(scores) >= bounds[category] };
  });
  for (const { category, scores, ok } of rows)
    console.log(
      `${page.padEnd(8)} ${category.padEnd(15)} ${median(scores).toFixed(2)} of ${scores.join(", ")}; bound ${bounds[category]} ${ok ? "ok" : "MISSED"}`,
    );
  const found = new Set(results.flatMap((result) => categories.flatMap((category) => findings(result, category))));
  for (const text of found) console.log(text);
  return rows.every(({ ok }) => ok);
}

const profile = mkdtempSync(join(tmpdir(), "harrier-lighthouse-"));
const [stack, port] = await Promise.all([startTestStack(), freePort()]);
try {
  const login = loginOf(stack);
  await makeMany(adminOf(login), "device", devices);
  const context = await startBrowser(profile, port);
  try {
    const signIn = await measure(`${stack.baseUrl}/console/login`, "login", port);
    await haveSession({ context }, login);
    const list = await measure(`${stack.baseUrl}/console/devices`, "devices", port);
    process.exitCode = signIn && list ? 0 : 1;
  } finally {
    await context.close();
  }
} finally {
  await stack.stop();
  rmSync(profile, { recursive: true, force: true });
}
