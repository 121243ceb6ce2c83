import type { HarrierError } from "@harrier/errors";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { feedbackBody } from "./device/feedback.ts";
import { parseWith } from "./parse.ts";
import { arrayBody, bodyId, requiredName, withoutNulls } from "./values.ts";

function told(schema: z.ZodType, value: unknown): unknown {
  try {
    parseWith(schema, value, "body");
    return [];
  } catch (error) {
    return (error as HarrierError).info?.["violations"];
  }
}

const item = z.object({
  name: requiredName(4),
  id: bodyId.optional(),
  kind: z.enum(["a", "b"]),
  either: z.union([z.string(), z.boolean()]).optional(),
  list: z.array(z.object({ on: z.boolean() })).optional(),
});

describe("violations", () => {
  it.each([
    [{ name: "a", kind: "c" }, "0.kind", "must be one of a, b"],
    [{ name: "a" }, "0.kind", "is missing, must be one of a, b"],
    [{ name: "a", kind: null }, "0.kind", "is missing, must be one of a, b"],
    [{ name: {}, kind: "a" }, "0.name", "must be a text"],
    [{ kind: "a" }, "0.name", "is missing, must be a text"],
    [{ name: "a", kind: "a", either: 5 }, "0.either", "must be a text or true or false"],
    [{ name: "a", kind: "a", list: [{ on: true }, { on: "x" }] }, "0.list.1.on", "must be true or false"],
    [{ name: "a", kind: "a", list: {} }, "0.list", "must be a list"],
    [{ name: "a", kind: "a", id: 1.5 }, "0.id", "must be a whole number"],
  ])("of %j: %s %s", (value, path, problem) => {
    expect(told(arrayBody(item), [value])).toEqual([{ path, problem }]);
    // a single object stands for a list of it
    expect(told(arrayBody(item), value)).toEqual([{ path, problem }]);
  });

  it.each([
    [z.string().min(1), "", "must have at least 1 character"],
    [z.string().max(255), "x".repeat(256), "must have at most 255 characters"],
    [z.array(z.string()).max(2), ["a", "b", "c"], "must have at most 2 items"],
    [z.int().min(60), 59, "must be at least 60"],
    [z.number().max(1.5), 2, "must be at most 1.5"],
    [z.string().max(1, "is long"), "ab", "is long"],
  ])("of limits name them: %#", (schema, value, problem) => {
    expect(told(z.object({ it: schema }), { it: value })).toEqual([{ path: "it", problem }]);
  });

  it("of limits say the same as the message", () => {
    expect(told(withoutNulls(item), { name: "12345", kind: "a" })).toMatchObject([{ path: "name", problem: expect.stringContaining("4") }]);
  });

  it("of a report name its member and the allowed values", () => {
    const body = { status: { execution: "done", result: { finished: "success" } } };
    expect(told(feedbackBody, body)).toMatchObject([
      { path: "status.execution", problem: expect.stringMatching(/^must be one of closed, /) },
    ]);
    expect(told(feedbackBody, {})).toMatchObject([{ path: "status", problem: "is missing, must be an object" }]);
  });

  it("are at most twenty, and short however long the names are", () => {
    const record = withoutNulls(z.object({ map: z.record(z.string(), z.number()) }));
    const map = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`${n}${"ü".repeat(10_000)}`, "x"]));
    const found = told(record, { map }) as { path: string }[];
    expect(found.length).toBeGreaterThan(1);
    expect(Buffer.byteLength(JSON.stringify(found))).toBeLessThan(2_200);
    expect(
      (
        told(
          arrayBody(item),
          Array.from({ length: 100 }, () => 5),
        ) as unknown[]
      ).length,
    ).toBe(20);
  });
});
