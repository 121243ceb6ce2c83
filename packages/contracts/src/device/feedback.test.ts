import { describe, expect, it } from "vitest";
import { parseWith } from "../parse.ts";
import { chunkPart } from "./answers.ts";
import { configDataBody, executions, feedbackBody } from "./feedback.ts";

const read = (body: unknown) => parseWith(feedbackBody, body, "body");
const unreadable = expect.objectContaining({ code: "bodyNotReadable" });

describe("device feedback", () => {
  it("reads what swupdate sends", () => {
    const body = {
      id: 11,
      time: "20261121T120000",
      status: {
        result: { finished: "success", progress: { of: 1, cnt: 1 } },
        execution: "closed",
        details: ["All Chunks Installed."],
      },
    };
    expect(read(body)).toEqual({ execution: "closed", finished: "success", details: ["All Chunks Installed."] });
  });

  it("reads what rauc-hawkbit-updater sends", () => {
    const body = {
      id: "11",
      time: "20261121T120000",
      status: { result: { finished: "none" }, execution: "proceeding", details: ["Download complete. 1.50 MB/s"] },
    };
    expect(read(body)).toEqual({ execution: "proceeding", finished: "none", details: ["Download complete. 1.50 MB/s"] });
  });

  it("reads what hawkBit's SDK sends", () => {
    const body = { timestamp: 1_763_726_400_000, status: { execution: "closed", result: { finished: "success" }, code: 200 } };
    expect(read(body)).toEqual({ execution: "closed", finished: "success", code: 200, details: [], timestamp: 1_763_726_400_000 });
  });

  it("reads what old Zephyr sends", () => {
    const body = { id: "11", time: "", status: { execution: "closed", result: { finished: "failure" } } };
    expect(read(body)).toEqual({ execution: "closed", finished: "failure", details: [] });
  });

  it.each([
    ["a text", "x", ["x"]],
    ["an empty array", [], []],
    ["an empty text in an array", [""], []],
    ["null", null, []],
    ["numbers", [1, true], ["1", "true"]],
  ])("accepts %s for details", (_case, details, expected) => {
    expect(read({ status: { execution: "closed", result: { finished: "none" }, details } }).details).toEqual(expected);
  });

  it("limits what it cannot store or show", () => {
    const status = { execution: "closed", result: { finished: "none" }, details: ["a\u0000b"] };
    expect(read({ timestamp: 1e300, status })).toMatchObject({ timestamp: 8.64e15, details: ["a\ufffdb"] });
    expect(read({ timestamp: -5, status }).timestamp).toBe(0);
  });

  it.each(executions)("accepts the execution %s", (execution) => {
    expect(read({ status: { execution, result: { finished: "none" } } }).execution).toBe(execution);
  });

  it.each([
    ["no status", {}],
    ["no execution", { status: { result: { finished: "none" } } }],
    ["no result", { status: { execution: "closed" } }],
    ["no finished", { status: { execution: "closed", result: {} } }],
    ["an execution in upper case", { status: { execution: "CLOSED", result: { finished: "none" } } }],
    ["an unknown result", { status: { execution: "closed", result: { finished: "maybe" } } }],
    ["a code that is a word", { status: { execution: "closed", result: { finished: "none" }, code: "abc" } }],
    ["a code that does not fit", { status: { execution: "closed", result: { finished: "none" }, code: 2 ** 31 } }],
    ["details that are objects", { status: { execution: "closed", result: { finished: "none" }, details: [{}] } }],
    ["a timestamp that is a word", { timestamp: "now", status: { execution: "closed", result: { finished: "none" } } }],
    ["an array", []],
    ["nothing", undefined],
  ])("refuses %s", (_case, body) => {
    expect(() => read(body)).toThrow(unreadable);
  });

  it("accepts texts for numbers, and unknown members anywhere", () => {
    const body = {
      timestamp: "12",
      more: {},
      status: { execution: "closed", result: { finished: "none", x: 1, progress: { percentage: 3 } }, code: " 7 ", y: [] },
    };
    expect(read(body)).toMatchObject({ timestamp: 12, code: 7 });
  });
});

describe("device attributes", () => {
  it.each([
    [{ data: { a: "b" } }, { mode: "merge", data: { a: "b" } }],
    [
      { id: "", time: 5, status: "any", mode: null, data: { a: null, b: 2, c: true } },
      { mode: "merge", data: { a: null, b: "2", c: "true" } },
    ],
    [
      { mode: "remove", data: { a: "" } },
      { mode: "remove", data: { a: "" } },
    ],
  ])("reads %j", (body, expected) => {
    expect(parseWith(configDataBody, body, "body")).toEqual(expected);
  });

  it.each([{}, { data: null }, { data: {} }, { data: { a: {} } }, { data: { a: [] } }, { mode: "MERGE", data: { a: "b" } }, []])(
    "refuses %j",
    (body) => {
      expect(() => parseWith(configDataBody, body, "body")).toThrow(unreadable);
    },
  );
});

describe("chunk parts", () => {
  it.each([
    ["application", "bApp"],
    ["runtime", "jvm"],
    ["os", "os"],
    ["firmware", "firmware"],
  ])("shows the module type %s as %s", (key, part) => {
    expect(chunkPart(key)).toBe(part);
  });
});
