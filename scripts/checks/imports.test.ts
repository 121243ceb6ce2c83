import { describe, expect, it } from "vitest";
import { checkFile, importsOf } from "./imports.mjs";

const rules = (file: string, text: string): string[] => checkFile(file, text).map(({ rule }: { rule: string }) => rule);

describe("the import table", () => {
  it.each([
    ["packages/errors/src/a.ts", 'import { z } from "@harrier/contracts";'],
    ["packages/rpc/src/a.ts", 'import type { Database } from "@harrier/db";'],
    ["packages/events/src/a.ts", 'export { createHttp } from "@harrier/service";'],
    ["apps/gateway/src/a.ts", 'import "@harrier/controller";'],
    ["apps/gateway/src/a.ts", 'const c = await import("@harrier/stack");'],
    ["apps/gateway/src/a.ts", 'import { x } from "@harrier/rpc/src/x.ts";'],
    ["apps/gateway/src/a/b.ts", 'import { x } from "../../../controller/src/x.ts";'],
    ["apps/controller/src/a.ts", 'import { Kafka } from "kafkajs";'],
    ["apps/controller/src/a.ts", 'import type pg from "pg";'],
    ["apps/artifact-store/src/a.ts", 'import * as minio from "minio";'],
    ["apps/controller/src/a.ts", 'import { Metadata } from "@grpc/grpc-js";'],
    ["apps/controller/src/poll/a.ts", 'import { find } from "../feedback/feedback.sql.ts";'],
    ["apps/controller/src/a.ts", "const port = process.env.PORT;"],
    ["packages/db/src/a.ts", "a\n".repeat(401)],
  ])("%s: %s is a finding", (file, text) => {
    expect(rules(file, text)).toHaveLength(1);
  });

  it.each([
    ["packages/service/src/a.ts", 'import type { Route } from "@harrier/contracts";'],
    ["apps/controller/src/a.ts", 'import { createHttp } from "@harrier/service";\nimport { z } from "zod";'],
    ["apps/controller/src/a.db.test.ts", 'import { testDatabase } from "@harrier/testkit";\nimport pg from "pg";'],
    ["apps/controller/src/poll/poll.sql.ts", 'import type { Knex } from "knex";'],
    ["apps/controller/src/poll/poll.ts", 'import { find } from "./poll.sql.ts";'],
    ["apps/controller/src/poll/poll.sql.ts", 'import { page } from "../lists/page.sql.ts";'],
    ["packages/db/src/schema/schema.db.test.ts", 'import { fresh } from "../../../../tests/setup/fresh-database.ts";'],
    ["apps/controller/src/wire.ts", 'import { find } from "./poll/poll.sql.ts";'],
    ["apps/artifact-store/src/storage/s3.ts", 'import { Client } from "minio";'],
    ["apps/controller/src/config.ts", "export const config = load(process.env);"],
    ["apps/controller/src/a.ts", "// process.env is read in config.ts\n/* process.env */"],
    ["packages/events/src/kafka.ts", 'import { Kafka } from "kafkajs";'],
    ["packages/db/src/a.ts", "a\n".repeat(400)],
  ])("%s: %s is no finding", (file, text) => {
    expect(rules(file, text)).toEqual([]);
  });

  it("every finding names a remedy", () => {
    const [finding] = checkFile("apps/gateway/src/a.ts", 'import "@harrier/controller";');
    expect(finding?.remedy).toContain("never imports another app");
  });
});

it("importsOf sees every form over several lines, and no text that only looks like one", () => {
  const text = `import a from "one";
import {
  b,
  type C,
} from "two";
export * from "three";
export type { D } from 'four';
import "five";
const e = await import("six");
const sentence = 'import nothing from "seven"';
const from = "eight";`;
  expect(importsOf(text)).toEqual(["one", "two", "three", "four", "five", "six"]);
});
