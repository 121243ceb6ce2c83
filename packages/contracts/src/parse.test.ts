import { HarrierError } from "@harrier/errors";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parseWith } from "./parse.ts";
import { arrayBody, bodyId, int32, optionalDescription, optionalName, pathId, requiredName, weight, withoutNulls } from "./values.ts";

function codeOf(schema: z.ZodType, value: unknown, where: "params" | "query" | "body" = "body"): string {
  try {
    parseWith(schema, value, where);
    return "ok";
  } catch (error) {
    if (error instanceof HarrierError) return error.code;
    throw error;
  }
}

const item = z.object({
  name: requiredName(8),
  nickname: optionalName(8),
  description: optionalDescription(16),
  id: bodyId.optional(),
  kind: z.enum(["a", "b"]).optional(),
  weight: weight.optional(),
  count: int32.optional(),
});

describe("parseWith", () => {
  it.each([
    ["a required text is absent", {}],
    ["a required text is null", { name: null }],
    ["a required text is empty", { name: "" }],
    ["a required text is blank", { name: "   " }],
    ["a text is too long", { name: "123456789" }],
    ["an optional name is empty", { name: "a", nickname: "" }],
    ["a text holds markup", { name: "a", description: "<b>x</b>" }],
    ["a number is out of range", { name: "a", weight: 1001 }],
    ["a number is negative", { name: "a", weight: -1 }],
  ])("finds a violated constraint: %s", (_case, value) => {
    expect(codeOf(withoutNulls(item), value)).toBe("constraintViolation");
  });

  it.each([
    ["a text is an object", { name: {} }],
    ["a text is an object", { name: {} }],
    ["an id is a word", { name: "a", id: "one" }],
    ["an id has a fraction", { name: "a", id: 1.5 }],
    ["a literal is unknown", { name: "a", kind: "A" }],
    ["a number has a fraction", { name: "a", weight: 1.5 }],
    ["a number does not fit", { name: "a", count: 2 ** 31 }],
    ["the body is an array", []],
    ["the body is a text", "x"],
    ["the body is missing", undefined],
    ["one member is of the wrong type and another one is too long", { name: "123456789", kind: "c" }],
  ])("finds an unreadable body: %s", (_case, value) => {
    expect(codeOf(withoutNulls(item), value)).toBe("bodyNotReadable");
  });

  it("treats null as absent, ignores unknown members and strips texts", () => {
    expect(parseWith(withoutNulls(item), { name: " a ", nickname: null, id: null, later: { x: null } }, "body")).toEqual({ name: "a" });
  });

  it("reads a single object as an array of it, and no other value", () => {
    expect(parseWith(arrayBody(item), { name: "a" }, "body")).toEqual([{ name: "a" }]);
    expect(parseWith(arrayBody(item), [], "body")).toEqual([]);
    expect(codeOf(arrayBody(item), "a")).toBe("bodyNotReadable");
    expect(codeOf(arrayBody(item), [null])).toBe("bodyNotReadable");
  });

  it("names the violated members, but keeps the fixed text for an unreadable body", () => {
    expect(() => parseWith(arrayBody(item), [{ name: "<img src=x>" }], "body")).toThrow("0.name Invalid characters in string.");
    expect(() => parseWith(arrayBody(item), "x", "body")).toThrow("The given request body is not well formed");
  });

  it.each(["a<5", "a<abc", "<", ">", "a > b < c", "1<2>1"])("allows %s, which is no markup", (description) => {
    expect(codeOf(item, { name: "a", description })).toBe("ok");
  });

  it.each(["<b>", "x</b>", "<!-- x -->", "<?xml?>", "<!doctype html>", "<IMG src=x>"])("refuses the markup %s", (description) => {
    expect(codeOf(item, { name: "a", description })).toBe("constraintViolation");
  });

  it("reads a megabyte of half-open tags in linear time", () => {
    const started = performance.now();
    expect(codeOf(item, { name: "<a".repeat(500_000) })).toBe("constraintViolation");
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("does not exhaust the stack on a deep body", () => {
    const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown;
    expect(codeOf(arrayBody(item), deep)).toBe("bodyNotReadable");
    expect(codeOf(withoutNulls(item), { name: "a", unknown: deep })).toBe("ok");
  });

  it("refuses the one character that PostgreSQL cannot store", () => {
    expect(codeOf(item, { name: "a\u0000b" })).toBe("constraintViolation");
    expect(codeOf(item, { name: "a", description: "\u0000" })).toBe("constraintViolation");
  });

  it("ignores a prototype in a body", () => {
    const parsed = parseWith(withoutNulls(z.looseObject({})), JSON.parse('{"__proto__":{"admin":true},"a":1}'), "body");
    expect(parsed).toEqual({ a: 1 });
    expect((parsed as Record<string, unknown>)["admin"]).toBeUndefined();
  });
});

describe("ids in paths", () => {
  const schema = z.object({ id: pathId });

  it.each([
    ["11", 11],
    ["-1", -1],
    ["9223372036854775807", Number.MAX_SAFE_INTEGER],
  ])("reads %s", (text, id) => {
    expect(parseWith(schema, { id: text }, "params")).toEqual({ id });
  });

  it.each(["abc", "", "1.5", "1e3", "0x10", "9223372036854775808", " 1"])("cannot read '%s'", (id) => {
    expect(codeOf(schema, { id }, "params")).toBe("bodyNotReadable");
  });
});
