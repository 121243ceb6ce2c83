import { describe, expect, it } from "vitest";
import { contentDisposition } from "./disposition.ts";
import { answerRange, matches, maxParts } from "./range.ts";

const etag = '"da39a3ee5e6b4b0d3255bfef95601890afd80709"';
const lastModified = Date.parse("Fri, 20 Nov 2026 10:00:00 GMT") + 123;
const ask = (range: string | undefined, ifRange?: string) => answerRange({ range, ifRange, size: 100, etag, lastModified });
const parts = (...list: [number, number][]) => ({ kind: "parts", parts: list.map(([start, end]) => ({ start, end })) });

describe("Range (contract device.md §6.3)", () => {
  it.each([
    ["bytes=0-9", parts([0, 9])],
    ["bytes=90-", parts([90, 99])],
    ["bytes=0-", parts([0, 99])],
    ["bytes=0-99", parts([0, 99])],
    ["bytes=99-99", parts([99, 99])],
    ["bytes=50-1000", parts([50, 99])],
    ["bytes=50-99999999999999999999999", parts([50, 99])],
    ["bytes=-10", parts([90, 99])],
    ["bytes=-100", parts([0, 99])],
    ["bytes=-101", parts([0, 99])],
    ["bytes=-99999999999999999999999", parts([0, 99])],
    ["bytes=0-9,20-29", parts([0, 9], [20, 29])],
    ["bytes=20-29,0-9", parts([0, 9], [20, 29])],
    ["bytes=0-9,10-19", parts([0, 9], [10, 19])],
    ["bytes=-1,0-0", parts([0, 0], [99, 99])],
  ])("%s is served", (range, expected) => {
    expect(ask(range)).toEqual(expected);
  });

  it.each([
    "bytes=100-",
    "bytes=100-200",
    "bytes=9-1",
    "bytes=-0",
    "bytes=-",
    "bytes=",
    "bytes",
    "",
    "items=0-9",
    "Bytes=0-9",
    "bytes = 0-9",
    "bytes=0-9, 20-29",
    "bytes=0-9,",
    "bytes=a-b",
    "bytes=0x1-9",
    "bytes=0-9-12",
    "bytes=0-9,5-14",
    "bytes=0-9,9-14",
    "bytes=0-9,100-",
    "bytes=99999999999999999999999-",
    `bytes=${Array.from({ length: maxParts + 1 }, () => "1-1").join(",")}`,
  ])("%s is 416", (range) => {
    expect(ask(range)).toEqual({ kind: "unsatisfiable" });
  });

  it.each([150, maxParts])("serves %d ranges in one answer, as delta updates of devices request them", (count) => {
    const list = Array.from({ length: count }, (_, i): [number, number] => [i * 10, i * 10 + 4]);
    const range = `bytes=${list.map(([from, to]) => `${from}-${to}`).join(",")}`;
    expect(answerRange({ range, ifRange: undefined, size: 10_000, etag, lastModified })).toEqual(parts(...list));
  });

  it("serves the whole file without a range", () => {
    expect(ask(undefined)).toEqual({ kind: "whole" });
    expect(ask(undefined, etag)).toEqual({ kind: "whole" });
  });

  it.each([
    [etag, true],
    ["Fri, 20 Nov 2026 10:00:00 GMT", true],
    ["Fri, 20 Nov 2026 10:00:01 GMT", true],
    ["Fri, 20 Nov 2026 09:59:59 GMT", false],
    [etag.replaceAll('"', ""), false],
    [`W/${etag}`, false],
    ['"other"', false],
    ["2027", false],
    ["", false],
  ])("If-Range %s", (ifRange, honoured) => {
    expect(ask("bytes=0-9", ifRange)).toEqual(honoured ? parts([0, 9]) : { kind: "whole" });
  });

  it("refuses a malformed range before it evaluates If-Range", () => {
    expect(ask("lines=1-2", '"other"')).toEqual({ kind: "unsatisfiable" });
    expect(ask("bytes=100-", '"other"')).toEqual({ kind: "whole" });
  });
});

describe("If-Match (§6.2)", () => {
  it.each([
    [undefined, true],
    ["*", true],
    ["abc", true],
    ['"abc"', true],
    ['"x", abc', true],
    ['"x","y"', false],
    ["", false],
    ["ABC", false],
  ])("%s", (header, expected) => {
    expect(matches(header, "abc")).toBe(expected);
  });
});

describe("Content-Disposition (§6.2)", () => {
  it.each([
    ["a.bin", "attachment;filename=a.bin"],
    ["a b.bin", "attachment;filename=a b.bin"],
    ["a(1).bin", 'attachment;filename="a(1).bin"'],
    ['a"\\.bin', 'attachment;filename="a\\"\\\\.bin"'],
    ["ü.bin", "attachment;filename=ü.bin"],
    ["x".repeat(80), `attachment;filename=${"x".repeat(78)}`],
    ["日本.bin", undefined],
    ["a\u0085.bin", undefined],
  ])("%s", (name, expected) => {
    expect(contentDisposition(name)).toBe(expected);
  });
});
