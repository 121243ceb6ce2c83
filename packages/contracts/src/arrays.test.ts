import { HarrierError } from "@harrier/errors";
import { expect, test } from "vitest";
import { z } from "zod";
import { configDataBody, feedbackBody } from "./device/feedback.ts";
import { parseWith, permissionNames, routes } from "./index.ts";
import { arrayBody, arrayOf, arrayUpTo, withoutNulls } from "./values.ts";

function errorOf(schema: z.ZodType, value: unknown): HarrierError {
  try {
    parseWith(schema, value, "body");
  } catch (error) {
    if (error instanceof HarrierError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** Makes an item that counts how often it is read. */
function counted() {
  const seen = { n: 0 };
  const item = z.preprocess(
    (value) => {
      seen.n += 1;
      return value;
    },
    z.object({ name: z.string().min(1) }),
  );
  return { seen, item };
}

const many = (n: number, of: unknown = {}) => Array.from({ length: n }, () => of);

test("if there are too many items, none is checked", () => {
  const { seen, item } = counted();
  const error = errorOf(arrayBody(item), many(5_001));
  expect(error.code).toBe("quotaTooManyEntries");
  expect(seen.n).toBe(0);
  expect(error.message.length).toBeLessThan(200);
});

test("the check ends after 20 issues, and the message lists no more of them", () => {
  const { seen, item } = counted();
  const error = errorOf(arrayBody(item), many(5_000));
  expect(error.code).toBe("bodyNotReadable");
  expect(seen.n).toBe(20);
  const violated = errorOf(arrayBody(item), many(5_000, { name: "" }));
  expect(violated.code).toBe("constraintViolation");
  expect(violated.message.split("expected string").length - 1).toBe(20);
  expect(Buffer.byteLength(violated.message)).toBeLessThanOrEqual(2_048);
});

test("valid items are all read, and issues name the place of their item", () => {
  const { item } = counted();
  expect(parseWith(arrayBody(item), many(5_000, { name: "a" }), "body")).toHaveLength(5_000);
  expect(errorOf(arrayBody(item), [...many(30, { name: "a" }), { name: "" }]).message).toMatch(/^30\.name /);
});

test.each([
  ["a list within an object", (item: z.ZodType) => withoutNulls(z.object({ list: arrayOf(item) })), 1_001],
  ["a list of limited length", (item: z.ZodType) => z.object({ list: arrayUpTo(100, item) }), 101],
])("the elements of %s that is too long are not checked", (_, schemaOf, length) => {
  const { seen, item } = counted();
  expect(errorOf(schemaOf(item), { list: many(length) }).code).toBe("constraintViolation");
  expect(seen.n).toBe(0);
});

test("a list of permissions that is too long is a violated constraint", () => {
  expect(errorOf(permissionNames, many(300_000, "READ_TARGET"))).toMatchObject({ code: "constraintViolation" });
});

const feedback = (details: unknown) => ({ status: { execution: "proceeding", result: { finished: "none" }, details } });
const attributes = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, {}]));

test("more than 1,000 details or attributes are refused as a quota before they are checked", () => {
  // the members have a wrong type, so a check of them would make the body unreadable
  expect(errorOf(feedbackBody, feedback(many(1_001, {}))).code).toBe("quotaTooManyEntries");
  expect(errorOf(configDataBody, { data: attributes(1_001) }).code).toBe("quotaTooManyEntries");
  expect(errorOf(feedbackBody, feedback(many(1_000, {}))).code).toBe("bodyNotReadable");
  expect(errorOf(configDataBody, { data: attributes(1_000) }).code).toBe("bodyNotReadable");
  expect(parseWith(feedbackBody, feedback(many(1_000, "a")), "body").details).toHaveLength(1_000);
});

test("every list that a route reads has a maximum length", () => {
  const endless = routes.filter((row) => row.body !== undefined && (row.bodyKind ?? "json").endsWith("json"));
  for (const row of endless) {
    for (const body of [many(50_000), many(50_000, 1)]) {
      const result = row.body?.safeParse(body);
      expect(result?.error?.issues.length ?? 0, row.id).toBeLessThanOrEqual(1);
      expect(result?.success, row.id).toBe(false);
    }
  }
});
