import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { axe } from "./support/axe.ts";
import { haveSession, openPage, visit } from "./support/browser.ts";
import { adminOf } from "./support/fleet.ts";
import { makePages } from "./support/pages.ts";
import { makeTenant, operator, useBrowser } from "./support/suite.ts";

// Every page with something in it: for people who cannot see it, in both themes, in narrow and wide windows, by keyboard, and under its policy.

const browser = useBrowser();
/** The operator, who may open every page. */
const login = operator;
let paths: string[];

beforeAll(async () => {
  paths = await makePages(adminOf(login()));
});

/** 640 px is what a window of 1280 px has left at 200 %. */
const widths = [390, 640, 768, 1280];

/** By how many pixels a page is wider than its window. */
async function widthsOver(page: Page): Promise<string[]> {
  const wide: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    // What follows the width of its box does so in the next frame.
    const over = await page.evaluate(
      () =>
        new Promise<number>((resolve) =>
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(document.documentElement.scrollWidth - innerWidth))),
        ),
    );
    if (over > 0) wide.push(`by ${over} px at ${width} px`);
  }
  await page.setViewportSize({ width: 1360, height: 900 });
  return wide;
}

/** What takes the focus of the keyboard and does not show it by an outline of two pixels. */
async function focusHidden(page: Page): Promise<string[]> {
  await page.keyboard.press("Tab");
  return page.evaluate(() => {
    const thick = (element: Element | null) => {
      const { outlineStyle, outlineWidth } = element ? getComputedStyle(element) : { outlineStyle: "none", outlineWidth: "0" };
      return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
    };
    const stops = [...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary, [tabindex]")];
    const hidden = stops.filter((stop) => {
      if (stop.tabIndex < 0 || !stop.checkVisibility({ visibilityProperty: true })) return false;
      stop.focus();
      return document.activeElement === stop && !thick(stop) && !thick(stop.parentElement);
    });
    return hidden.map((stop) => `${stop.tagName} ${stop.getAttribute("aria-label") ?? stop.textContent?.slice(0, 40)} hides its focus`);
  });
}

/** What is wrong with the page that is open. */
async function faultsOf(page: Page): Promise<string[]> {
  return [...(await axe(page)), ...(await widthsOver(page)), ...(await focusHidden(page))];
}

test("nothing is wrong with the page of the sign-in", async () => {
  const { page, complaints, context } = await visit(browser());
  await page.goto(`${login().baseUrl}/console/login`);
  await page.getByLabel("User name").waitFor();
  const found = await faultsOf(page);
  await page.goto(`${login().baseUrl}/console/login?error=denied`);
  await page.getByText("known to the identity provider, but not here").waitFor();
  expect([...found, ...(await faultsOf(page))]).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

/** Two browsers share the pages, because one waits for its answers half of the time. */
test.concurrent.each([0, 1])("nothing is wrong with any page, part %i of 2", { timeout: 600_000 }, async (part) => {
  const visited = await visit(browser());
  const { page, complaints, context } = visited;
  await haveSession(visited, login());
  const found: string[] = [];
  for (const path of paths.filter((_, index) => index % 2 === part)) {
    await openPage(page, login().baseUrl, path);
    found.push(...(await faultsOf(page)).map((text) => `${path} ${text}`));
  }
  expect(found).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

/** What a tenant has that has nothing yet. */
const firstPages = [
  ...["/", "/devices", "/rollouts", "/rollouts/new?step=plan", "/software", "/software?tab=modules", "/auto-assign"],
  ...["/auto-assign?tab=assignments", "/approvals", "/reports", "/actions", "/settings/types", "/settings/tags", "/settings/roles"],
  ...["/settings/keys", "/settings/clients", "/settings/webhooks"],
];

test.concurrent("nothing is wrong with the pages of a tenant that has nothing yet", { timeout: 600_000 }, async () => {
  const own = await makeTenant();
  const visited = await visit(browser());
  const { page, complaints, context } = visited;
  await haveSession(visited, own);
  const found: string[] = [];
  for (const path of firstPages) {
    await openPage(page, own.baseUrl, path);
    found.push(...(await axe(page)).map((text) => `${path} ${text}`));
  }
  expect(found).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test.concurrent("nothing is wrong with pages that could not be loaded", { timeout: 600_000 }, async () => {
  const visited = await visit(browser());
  const { page, complaints, context } = visited;
  await haveSession(visited, login());
  const body = JSON.stringify({ message: "Broken on purpose." });
  await page.route("**/api/mgmt/v1/**", (route) =>
    /\/userinfo|\/events\/stream/.test(route.request().url())
      ? route.fallback()
      : route.fulfill({ status: 500, headers: { "content-type": "application/json", "x-request-id": "req-of-this" }, body }),
  );
  const found: string[] = [];
  for (const path of paths.filter((one) => !/[?&]q=|nobody|nothing|nowhere/.test(one))) {
    await page.goto(`${login().baseUrl}/console${path}`);
    const said = await page
      .getByText("Broken on purpose.")
      .first()
      .waitFor({ timeout: 20_000 })
      .then(
        () => true,
        () => false,
      );
    if (!said) found.push(`${path} does not say that it could not be loaded`);
    found.push(...(await axe(page)).map((text) => `${path} ${text}`));
  }
  expect(found).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});
