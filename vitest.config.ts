import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tests/contract/support/longest-first.ts";

const ignored = ["**/node_modules/**", "**/dist/**", "**/.harrier/**"];
const src = (name: string) => [`apps/*/src/**/${name}`, `packages/*/src/**/${name}`];
const postgres = ["tests/setup/postgres.ts"];

// what is polled for comes when it comes: the machine may be busy with something else
const slowPolls = { poll: { timeout: 8_000 } };

// Files share nothing but their imports, which would take longer than most of the files; and tests wait for clocks and the database, so that one more
// of them has room than the machine has cores.
const sharing = { isolate: false, maxWorkers: 3 };

// A file's name says what it needs: x.test.ts nothing, x.db.test.ts PostgreSQL, x.real.test.ts Kafka and S3 as well, x.long.test.ts much time,
// x.hostile.test.ts a machine that has nothing else to do, x.kubernetes.test.ts Go for Helm, x.cluster.test.ts Go for Kubernetes' API server.
export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          ...sharing,
          include: [...src("*.test.ts"), "scripts/**/*.test.ts"],
          exclude: [...ignored, "**/*.{db,real,long}.test.ts"],
          testTimeout: 10_000,
          expect: slowPolls,
        },
      },
      {
        test: {
          name: "db",
          ...sharing,
          include: [...src("*.db.test.ts"), "tests/**/*.db.test.ts"],
          exclude: ignored,
          globalSetup: postgres,
          expect: slowPolls,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      // starts a stack of its own, and also runs alone against any BASE_URL
      "tests/contract/vitest.config.ts",
      {
        test: {
          name: "e2e",
          include: ["tests/e2e/**/*.test.ts"],
          exclude: [...ignored, "**/*.{db,real,long,hostile,kubernetes,cluster,skew,restore}.test.ts"],
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "real",
          include: [...src("*.real.test.ts"), "tests/**/*.real.test.ts"],
          exclude: [...ignored, "tests/clients/**"],
          globalSetup: postgres,
          fileParallelism: false,
          testTimeout: 300_000,
          // the first run downloads Kafka and may build MinIO
          hookTimeout: 900_000,
        },
      },
      // device clients of others, which mostly wait for their own clocks
      {
        test: {
          name: "clients",
          include: ["tests/clients/**/*.real.test.ts"],
          exclude: ignored,
          globalSetup: postgres,
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 900_000,
        },
      },
      // the chart, by tools that are built from source once; and the same in a real API server, which takes minutes to build
      {
        test: { name: "kubernetes", include: ["tests/e2e/kubernetes/*.kubernetes.test.ts"], exclude: ignored, hookTimeout: 900_000 },
      },
      {
        test: { name: "cluster", include: ["tests/e2e/kubernetes/*.cluster.test.ts"], exclude: ignored, hookTimeout: 1_800_000 },
      },
      // two releases beside each other (scripts/test.mjs builds the other one), and a dump in a new cluster
      {
        test: { name: "skew", include: ["tests/e2e/*.skew.test.ts"], exclude: ignored, fileParallelism: false, hookTimeout: 180_000 },
      },
      {
        test: { name: "restore", include: ["tests/e2e/*.restore.test.ts"], exclude: ignored, testTimeout: 900_000, hookTimeout: 600_000 },
      },
      {
        test: {
          name: "console",
          include: ["tests/console/**/*.console.test.ts"],
          exclude: ignored,
          globalSetup: ["tests/console/support/shared.ts"],
          expect: slowPolls,
          testTimeout: 120_000,
          // the first run fetches a browser
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: "hostile",
          include: ["tests/e2e/hostile/*.hostile.test.ts"],
          exclude: ignored,
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "long",
          include: [...src("*.long.test.ts"), "tests/**/*.long.test.ts"],
          exclude: ignored,
          globalSetup: postgres,
          fileParallelism: false,
          testTimeout: 3_600_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
