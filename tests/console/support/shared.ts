import { startTestStack } from "@harrier/testkit";
import type { TestProject } from "vitest/node";
import { startBrowserServer } from "./browser.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** What the files of the suite share. */
    shared: {
      readonly baseUrl: string;
      readonly adminPassword: string;
      /** The address of the browser for Playwright. */
      readonly browser: string;
    };
  }
}

/** Starts one stack and one browser for the whole suite. A file that kills services starts a stack of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [stack, browser] = await Promise.allSettled([startTestStack(), startBrowserServer()]);
  const stop = async () => {
    if (browser.status === "fulfilled") await browser.value.close();
    if (stack.status === "fulfilled") await stack.value.stop();
  };
  if (stack.status === "rejected" || browser.status === "rejected") {
    await stop();
    throw stack.status === "rejected" ? stack.reason : (browser as PromiseRejectedResult).reason;
  }
  const { baseUrl, adminPassword } = stack.value;
  project.provide("shared", { baseUrl, adminPassword, browser: browser.value.wsEndpoint() });
  return stop;
}
