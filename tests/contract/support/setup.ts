import { afterAll, beforeAll, expect, inject } from "vitest";
import { acquireLock } from "./locks.ts";

const releases: (() => Promise<void>)[] = [];

/** A lock is granted when all who requested it before have released it, so its wait says nothing about the service. */
const lockTimeoutMs = 3_600_000;

beforeAll(async () => {
  const { locksUrl } = inject("service");
  const path = expect.getState().testPath ?? "";
  releases.push(await acquireLock(locksUrl, path.endsWith(".serial.test.ts") ? "alone" : "shared"));
  // These files call every route, hence make API keys.
  if (path.includes("/routes/")) releases.push(await acquireLock(locksUrl, "keys"));
}, lockTimeoutMs);

afterAll(async () => {
  for (const release of releases.splice(0).toReversed()) await release();
});
