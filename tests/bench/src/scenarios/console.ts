import { startStack } from "@harrier/stack";
import { installChromium } from "@harrier/testkit";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import type { Bench } from "../lib/context.ts";
import { seedTargets } from "../lib/seed.ts";
import { median } from "../lib/statistics.ts";
import type { StartStack } from "./against.ts";
import { comparePolls, gateways } from "./console-polls.ts";

/** What a person waits for in a list of so many targets, in milliseconds, and how many rows the document may hold. */
const budgets = { firstRowsMs: 1_000, endMs: 1_500, rows: 60, leastTargets: 100_000 };
const rounds = { warm: 1, measured: 9 };

/** Gateways with the console and without it, side by side on the same services. */
export const startForConsole: StartStack = (options) => startStack({ ...options, ...gateways });

/** Measures in Debian's Chromium how soon a list of all targets is there, and its end; and what serving the console costs polls. */
export async function benchConsole(bench: Bench): Promise<void> {
  const count = bench.options.targets;
  const prefix = "console-";
  const ids = await seedTargets(bench.api, prefix, count);
  const { executable, env, args } = await installChromium();
  const all = { ...process.env, ...env } as Record<string, string>;
  const browser = await chromium.launch({ executablePath: executable, args: [...args], env: all });
  try {
    await measureList(bench, browser, ids);
  } finally {
    await browser.close();
  }
  await comparePolls(bench, ids.slice(0, 10_000));
}

interface Took {
  readonly firstRows: number;
  readonly again: number;
  readonly end: number;
  readonly rows: number;
}

async function measureList(bench: Bench, browser: Browser, ids: readonly string[]): Promise<void> {
  const took: Took[] = [];
  for (let round = -rounds.warm; round < rounds.measured; round++) {
    const context = await signedIn(bench, browser);
    // The other order each time, so that the server does not answer from pages that it has just read.
    const measured = await measureOnce(bench, await context.newPage(), round % 2 === 0 ? ids : ids.toReversed());
    if (round >= 0) took.push(measured);
    await context.close();
  }
  const scenario = `console, ${ids.length.toLocaleString("en")} targets`;
  const whole = ids.length >= budgets.leastTargets;
  const add = (figure: string, values: readonly number[], { budget, unit }: { budget: number; unit: string }) => {
    const [value, most] = [median(values), Math.max(...values)];
    const limit = `budget ${budget}; at most ${Math.round(most)} of ${values.length}`;
    bench.report.add({ scenario, figure, value, unit, limit, ok: whole && value <= budget });
  };
  const of = (name: keyof Took) => took.map((one) => one[name]);
  add("first rows, nothing in the browser's cache", of("firstRows"), { budget: budgets.firstRowsMs, unit: "ms" });
  add("first rows, opened again", of("again"), { budget: budgets.firstRowsMs, unit: "ms" });
  add("End to the last row", of("end"), { budget: budgets.endMs, unit: "ms" });
  add("rows in the document", of("rows"), { budget: budgets.rows, unit: "" });
}

/** A browser that has loaded nothing yet, with a session. */
async function signedIn({ stack }: Bench, browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, reducedMotion: "reduce" });
  const data = { username: "admin", password: stack.adminPassword, kind: "browser" };
  const answer = await context.request.post(`${stack.baseUrl}/console/session`, { headers: { "sec-fetch-site": "same-origin" }, data });
  if (answer.status() !== 204) throw new Error(`no session: ${answer.status()}`);
  return context;
}

async function measureOnce({ stack }: Bench, page: Page, ids: readonly string[]): Promise<Took> {
  const [first = "", last = ""] = [ids[0], ids.at(-1)];
  const grid = page.getByRole("grid", { name: "Devices" });
  const shown = (id: string) => grid.getByText(id).first().waitFor();
  const open = async () => {
    await page.goto(`${stack.baseUrl}/console/devices?sort=controllerId:${first < last ? "ASC" : "DESC"}`, { waitUntil: "commit" });
    await shown(first);
  };
  const firstRows = await millisecondsOf(open);
  const again = await millisecondsOf(open);
  await grid.focus();
  const end = await millisecondsOf(async () => {
    await page.keyboard.press("End");
    await shown(last);
  });
  const rows = await page.locator("[role=grid] [role=rowgroup] > [role=row]").count();
  return { firstRows, again, end, rows };
}

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
