import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./support/longest-first.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** Runs the suite alone: `vitest run --config tests/contract/vitest.config.ts`. Within `npm test` it is the project `contract` of the root. */
export default defineConfig({
  test: {
    name: "contract",
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    globalSetup: ["temporary-folder.ts", "global-setup.ts"].map((name) => join(import.meta.dirname, "support", name)),
    env: { TMPDIR: temporaryFolder },
    pool: "forks",
    // Files share nothing but their imports, which take longer than most of the files.
    isolate: false,
    // The tests mostly wait for the services, so that more of them have room than the machine has cores.
    maxWorkers: 4,
    sequence: { groupOrder: 1, sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});
