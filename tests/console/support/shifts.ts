import type { Page, Route } from "playwright-core";
import { frames } from "./browser.ts";

/** So much is let through, in pixels: half a row of a list. */
const tolerated = 18;

const pressable = "a[href], button, input, select, textarea, summary, [tabindex]";

interface Moved {
  readonly what: string;
  readonly by: number;
}

interface Shift extends PerformanceEntry {
  readonly sources: readonly { readonly node: Node | null; readonly previousRect: DOMRect; readonly currentRect: DOMRect }[];
}

/** Notes on every page that is opened what the browser has moved up or down by itself, if there is something in it that somebody may be about to press. */
async function watch(page: Page): Promise<void> {
  await page.addInitScript((pressable) => {
    const moved: Moved[] = [];
    Object.assign(globalThis, { moved });
    new PerformanceObserver((list) => {
      for (const { node, previousRect, currentRect } of (list.getEntries() as Shift[]).flatMap(({ sources }) => sources)) {
        const element = node instanceof Element ? node : node?.parentElement;
        const isPressable = element?.matches(pressable) || element?.querySelector(pressable) != null;
        // For the browser what has left the window has no place any more.
        const now = currentRect.height > 0 ? currentRect : element?.getBoundingClientRect();
        if (!element || !isPressable || now === undefined || now.height === 0) continue;
        const what = `${element.tagName} ${(element.getAttribute("aria-label") ?? element.textContent ?? "").slice(0, 40)}`;
        moved.push({ what, by: Math.round(now.y - previousRect.y) });
      }
    }).observe({ type: "layout-shift", buffered: true });
  }, pressable);
}

/** What has moved too far since it was asked for the last time. */
async function movedSince(page: Page): Promise<Moved[]> {
  await frames(page);
  const all = await page.evaluate(() => (globalThis as unknown as { moved: Moved[] }).moved.splice(0));
  return all.filter(({ by }) => Math.abs(by) > tolerated);
}

/** Which of the questions that wait is answered next. */
export type Next = "oldest" | "newest";

/**
 * Opens pages whose questions to the server are answered one by one, each only when the page has drawn the answer before.
 * Answers what moved up or down by that, and after which question, and pages that asked nothing or are never complete.
 */
export async function shiftsOf(page: Page, urls: readonly string[], next: Next): Promise<string[]> {
  const held: Route[] = [];
  await watch(page);
  await page.route("**/api/mgmt/v1/**", (route) => {
    if (/\/userinfo|\/events\/stream/.test(route.request().url())) return route.fallback();
    held.push(route);
  });
  const shifts: string[] = [];
  for (const url of urls) {
    // Nothing that the page before asks is taken for a question of this one.
    await page.goto("about:blank");
    held.length = 0;
    await page.goto(url);
    let question: string | undefined;
    for (;;) {
      const route = await nextOf(held, next, async () => question !== undefined && (await isComplete(page)));
      shifts.push(...(await movedSince(page)).map(({ what, by }) => `${url}: after ${question} by ${by} px: ${what}`));
      if (route === "late") shifts.push(`${url} ${question === undefined ? "asked nothing" : "is never complete"}`);
      if (route === "late" || route === "none") break;
      // Nobody waits any more for a question that the page has taken back.
      const answer = await route.fetch().catch(() => undefined);
      if (answer === undefined) continue;
      await route.fulfill({ response: answer }).catch(() => undefined);
      question = new URL(route.request().url()).pathname;
      await frames(page);
    }
  }
  return shifts;
}

const isComplete = async (page: Page) =>
  (await page.locator("h1").count()) > 0 && (await page.locator("[role=status][aria-label=Loading]").count()) === 0;

/** The next question; "none" if none is asked for a moment and the page needs none, "late" if that takes too long. */
async function nextOf(held: Route[], next: Next, needsNone: () => Promise<boolean>): Promise<Route | "none" | "late"> {
  for (let waited = 0; waited < 20_000; waited += 200) {
    for (let ms = 0; held.length === 0 && ms < 200; ms += 20) await new Promise((resolve) => setTimeout(resolve, 20));
    const route = next === "oldest" ? held.shift() : held.pop();
    if (route !== undefined) return route;
    if (await needsNone()) return "none";
  }
  return "late";
}
