import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maxMessages, messagesOf, type ReportContent, split } from "./messages.ts";

const content = (change: Partial<ReportContent>): ReportContent => ({
  channel: "deployment",
  execution: "proceeding",
  result: "none",
  code: null,
  details: [],
  ...change,
});

describe("messages of an entry", () => {
  test("the server's default message appears only where the device sent none", () => {
    expect(messagesOf(content({}))).toEqual(["Update Server: Target reported PROCEEDING."]);
    expect(messagesOf(content({ execution: "scheduled" }))).toEqual(["Update Server: Target reported SCHEDULED."]);
    expect(messagesOf(content({ execution: "canceled" }))).toEqual(["Update Server: Target confirmed cancellation.."]);
    expect(messagesOf(content({ execution: "closed", result: "success" }))).toEqual(["Update Server: Target reported CLOSED with OK!."]);
    expect(messagesOf(content({ execution: "closed", result: "failure" }))).toEqual(["Update Server: Target reported CLOSED with ERROR!."]);
    expect(messagesOf(content({ details: ["a", "b"] }))).toEqual(["a", "b"]);
  });

  test("a code without details is the only message, and comes from the device", () => {
    expect(messagesOf(content({ code: 200 }))).toEqual(["Device reported status code: 200"]);
    expect(messagesOf(content({ code: -1, details: ["a"] }))).toEqual(["a", "Device reported status code: -1"]);
  });

  test("the server always adds the outcome of a cancellation", () => {
    const confirmed = content({ channel: "cancel", execution: "closed", result: "success", details: ["done"], code: 7 });
    expect(messagesOf(confirmed)).toEqual([
      "Update Server: Cancellation confirmed.",
      "done",
      "Device reported status code: 7",
      "Update Server: Cancellation completion is finished successfully.",
    ]);
    expect(messagesOf(content({ channel: "cancel", execution: "rejected" }))).toEqual([
      "Update Server: Target rejected the cancellation request.",
    ]);
    expect(messagesOf(content({ channel: "cancel" }))).toEqual([]);
  });
});

describe("splitting", () => {
  test("1,300 characters are three messages of at most 512", () => {
    expect(split("x".repeat(1_300)).map((m) => m.length)).toEqual([512, 512, 276]);
    expect(split("x".repeat(512))).toHaveLength(1);
    expect(split("")).toEqual([]);
  });

  test("a character that PostgreSQL cannot hold is replaced", () => {
    expect(split("a\u0000b")).toEqual(["a\ufffdb"]);
  });

  test("nothing is lost and no character is cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 2_000 }), (text) => {
        const pieces = split(text);
        expect(pieces.join("")).toBe(text.replaceAll("\u0000", "\ufffd"));
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(512);
          expect(piece.isWellFormed()).toBe(true);
        }
      }),
    );
  });
});

describe("the quota of messages", () => {
  test.each([
    ["no line", [], 50],
    ["short lines, however many", Array<string>(51).fill("short"), 50],
    ["one text, however long", ["x".repeat(1_000_000)], 50],
    ["two long lines", ["x".repeat(512), "", "x".repeat(1_300)], 52],
    ["48 lines of two pieces", Array<string>(48).fill("x".repeat(513)), 97],
    ["lines without end", Array<string>(1_000).fill("x".repeat(1_024)), 99],
    ["17 texts of three pieces", Array<string>(17).fill("x".repeat(1_025)), 50],
    ["long texts without end", Array<string>(1_000).fill("x".repeat(1_300)), 50],
  ])("%s", (_case, details, max) => {
    expect(maxMessages(details, 50)).toBe(max);
  });

  test("without a quota there is no limit", () => {
    expect(maxMessages(["x".repeat(1_300), "y"], 0)).toBe(0);
  });
});
