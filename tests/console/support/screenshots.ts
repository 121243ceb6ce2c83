// Writes the picture of the README: `npm run screenshots`. It starts a stack of its own, rolls a set out to simulated devices, and looks at it.
import { fileURLToPath } from "node:url";
import { runFleet } from "@harrier/simulator";
import { startTestStack } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { signIn, startBrowser, visit } from "./browser.ts";
import { adminOf, loginOf, makeDevices, makeSet } from "./fleet.ts";

/** Waits until the page has caught up with the server. */
async function expectShown(page: Page, finished: number): Promise<void> {
  await page
    .getByRole("img", { name: new RegExp(`: ${finished} installed`) })
    .first()
    .waitFor();
}

const target = fileURLToPath(new URL("../../../docs/console.png", import.meta.url));
const [stack, browser] = await Promise.all([startTestStack(), startBrowser()]);
try {
  const admin = adminOf(loginOf(stack));
  const set = await makeSet(admin, "gateway-os");
  const devices = await makeDevices(admin, "gateway", 240);
  const conditions = (success: string, error: string) => ({
    successCondition: { condition: "THRESHOLD", expression: success },
    errorCondition: { condition: "THRESHOLD", expression: error },
  });
  const rollout = await admin.post<{ id: number }>("rollouts", {
    name: "gateway-os 1.0 to all gateways",
    distributionSetId: set.id,
    targetFilterQuery: "controllerid==gateway-*",
    groups: [
      { name: "canary", targetPercentage: 5, ...conditions("80", "30") },
      { name: "early", targetPercentage: 25, ...conditions("80", "30") },
      { name: "everyone", targetPercentage: 100, ...conditions("80", "40") },
    ],
  });
  const status = async () =>
    (await admin.get<{ status: string; totalTargetsPerStatus: { finished: number } }>(`rollouts/${rollout.id}`)) ?? { status: "" };
  const until = async (done: (now: Awaited<ReturnType<typeof status>>) => boolean) => {
    while (!done(await status())) await new Promise((resolve) => setTimeout(resolve, 200));
  };
  await until((now) => now.status === "ready");
  const { page } = await visit(browser, { width: 1280, height: 480 });
  await signIn(page, loginOf(stack));
  await page.goto(`${stack.baseUrl}/console/rollouts/${rollout.id}`);
  await page.getByRole("heading", { name: "everyone" }).waitFor();
  await page.evaluate(() => document.fonts.ready);
  await admin.post(`rollouts/${rollout.id}/start`);
  const fleet = runFleet({ baseUrl: stack.baseUrl, devices, pollSeconds: 4, fail: 0.06 });
  await until((now) => now.totalTargetsPerStatus.finished >= 110);
  // Devices stop where they are, so that the picture shows some on their way.
  await fleet.stop();
  await expectShown(page, (await status()).totalTargetsPerStatus.finished);
  await page.screenshot({ path: target });
  console.log(target);
} finally {
  await browser.close();
  await stack.stop();
}
