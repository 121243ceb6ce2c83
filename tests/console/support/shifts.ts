import type { Page, Route } from "playwright-core";

/** What is moved by less is still under the pointer, in pixels: half a row of a list. */
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
  await page.addInitScript((pressed) => {
    const moved: Moved[] = [];
    Object.assign(globalThis, { moved });
    new PerformanceObserver((list) => {
      for (const { node, previousRect, currentRect } of (list.getEntries() as Shift[]).flatMap(({ sources }) => sources)) {
        const element = node instanceof Element ? node : node?.parentElement;
        const isPressed = element?.matches(pressed) || element?.querySelector(pressed) != null;
        // What has left the window has no place any more.
        if (!element || !isPressed || currentRect.height === 0) continue;
        const what = `${element.tagName} ${(element.getAttribute("aria-label") ?? element.textContent ?? "").slice(0, 40)}`;
        moved.push({ what, by: Math.round(currentRect.y - previousRect.y) });
      }
    }).observe({ type: "layout-shift", buffered: true });
  }, pressable);
}

const frames = (page: Page) =>
  page.evaluate(() => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));

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
 * Answers what moved up or down by that, and after which question.
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
    held.length = 0;
    await page.goto(url);
    // A page that asks again and again is looked at for its first questions.
    for (let answered = 0; answered < 20; answered += 1) {
      const route = await taken(held, next, answered === 0 ? 2_000 : 200);
      if (route === undefined) break;
      // Nobody waits any more for a question that the page has taken back.
      const answer = await route.fetch({ timeout: 5_000 }).catch(() => undefined);
      if (answer === undefined) continue;
      await route.fulfill({ response: answer }).catch(() => undefined);
      const question = new URL(route.request().url()).pathname;
      shifts.push(...(await movedSince(page)).map(({ what, by }) => `${url}: after ${question} by ${by} px: ${what}`));
    }
  }
  return shifts;
}

/** The next question; undefined if none is asked in time. */
async function taken(held: Route[], next: Next, waitMs: number): Promise<Route | undefined> {
  for (let waited = 0; held.length === 0 && waited < waitMs; waited += 20) await new Promise((resolve) => setTimeout(resolve, 20));
  return next === "oldest" ? held.shift() : held.pop();
}
