import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import type { Theme } from "./browser.ts";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
}

/** Themes differ in their colours and in nothing else, so that one of them is looked at as a whole, and of the other what its colours decide. */
const runOnly: Readonly<Record<Theme, object>> = {
  dark: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] },
  light: { type: "rule", values: ["color-contrast", "link-in-text-block"] },
};

/** What axe finds in the document or in a part of it; it is evaluated by the debugger, which the policy of the page does not bind. */
async function findings(page: Page, theme: Theme, part: string | undefined): Promise<string[]> {
  const options = { runOnly: runOnly[theme], resultTypes: ["violations"] };
  const found = await page.evaluate(
    ([within, given]) =>
      (globalThis as unknown as { axe: { run: (of: unknown, how: object) => Promise<{ violations: Finding[] }> } }).axe.run(
        within ?? document,
        given,
      ),
    [part, options] as const,
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(" ")}: ${failureSummary?.slice(0, 200)}`),
  );
}

/** What is found is looked for so many times more, half a second apart. */
const looks = 10;

/** The colours of the theme are there two frames later, when their transitions are over, which are as short as may be. */
async function settled(): Promise<void> {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  await Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
}

/** What is found and stays: a page that is drawn anew for another theme may take longer than those frames. */
async function inTheme(page: Page, theme: Theme, part: string | undefined): Promise<string[]> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  for (let again = 0; ; again++) {
    await page.evaluate(settled);
    const found = await findings(page, theme, part);
    if (found.length === 0 || again === looks) return found.map((text) => `in the ${theme} theme ${text}`);
    await page.waitForTimeout(500);
  }
}

/** What axe finds on a page, or in the part that a CSS selector names, in both themes, which follow the wish of the browser. */
export async function axe(page: Page, part?: string): Promise<string[]> {
  // It stays in a document, so that what opens over a page needs no other copy.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  const first = lastThemes.get(page) ?? "dark";
  const second = first === "dark" ? "light" : "dark";
  lastThemes.set(page, second);
  return [...(await inTheme(page, first, part)), ...(await inTheme(page, second, part))];
}

/** The theme in which a page was looked at last: what opens next in it is looked at in that one first, since another one draws everything anew. */
const lastThemes = new WeakMap<Page, Theme>();
