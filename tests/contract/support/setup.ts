import { afterAll, beforeAll, expect, inject } from "vitest";
import { takeTurn } from "./turns.ts";

const releases: (() => Promise<void>)[] = [];

/** A turn comes when all who asked before have ended: that is no measure of anything. */
const turnMs = 3_600_000;

beforeAll(async () => {
  const { turnsUrl } = inject("service");
  const path = expect.getState().testPath ?? "";
  releases.push(await takeTurn(turnsUrl, path.endsWith(".alone.test.ts") ? "alone" : "shared"));
  // these ask every route, hence make API keys
  if (path.includes("/routes/")) releases.push(await takeTurn(turnsUrl, "keys"));
}, turnMs);

afterAll(async () => {
  for (const release of releases.splice(0).toReversed()) await release();
});
