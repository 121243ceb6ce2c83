import { describe, expect, it } from "vitest";
import { z } from "zod";
import { page, pageQuery, plainPageQuery, queryFlag, queryInt, representedPageQuery, softDeletedMode } from "./paging.ts";
import { parseWith } from "./parse.ts";

const read = (query: Record<string, unknown>) => parseWith(pageQuery, query, "query");

describe("paging", () => {
  it.each([
    [{}, { offset: 0, limit: 50 }],
    [{ offset: "-5" }, { offset: 0, limit: 50 }],
    [{ limit: "0" }, { offset: 0, limit: 50 }],
    [{ limit: "-1" }, { offset: 0, limit: 50 }],
    [{ limit: "500" }, { offset: 0, limit: 500 }],
    [{ limit: "501" }, { offset: 0, limit: 500 }],
    [
      { offset: "505", limit: "10" },
      { offset: 505, limit: 10 },
    ],
    [
      { offset: "", limit: "" },
      { offset: 0, limit: 50 },
    ],
    [{ limit: ["7", "9"] }, { offset: 0, limit: 7 }],
    [{ foo: "bar" }, { offset: 0, limit: 50 }],
  ])("reads %j leniently", (query, expected) => {
    expect(read(query)).toEqual(expected);
  });

  it("refuses a limit that is no number", () => {
    expect(() => read({ limit: "abc" })).toThrow(expect.objectContaining({ code: "bodyNotReadable" }));
  });

  it("passes sort and q on unchanged, even an empty q, which is an error of the query language", () => {
    expect(read({ sort: "name:ASC", q: "" })).toMatchObject({ sort: "name:ASC", q: "" });
    expect(parseWith(plainPageQuery, { q: "name==a" }, "query")).not.toHaveProperty("q");
  });

  it.each([
    ["full", "full"],
    ["FULL", "full"],
    ["compact", "compact"],
    ["whatever", "compact"],
    [undefined, "compact"],
  ])("reads the representation %s as %s", (representation, expected) => {
    expect(parseWith(representedPageQuery, { representation }, "query").representation).toBe(expected);
  });

  it("counts the items of a page", () => {
    expect(page(["a", "b"], { total: 7 })).toEqual({ content: ["a", "b"], total: 7, size: 2 });
  });
});

describe("query parameters", () => {
  const schema = z.object({ force: queryFlag, soft_deleted_mode: softDeletedMode, c: queryInt(-1) });

  it.each([
    [{}, { force: false, soft_deleted_mode: "EXCLUDE_SOFT_DELETED", c: -1 }],
    [
      { force: "TRUE", soft_deleted_mode: "only_soft_deleted", c: "-2147483648" },
      { force: true, soft_deleted_mode: "ONLY_SOFT_DELETED", c: -2147483648 },
    ],
    [{ force: "false" }, { force: false, soft_deleted_mode: "EXCLUDE_SOFT_DELETED", c: -1 }],
  ])("reads %j", (query, expected) => {
    expect(parseWith(schema, query, "query")).toEqual(expected);
  });

  it.each([{ force: "maybe" }, { soft_deleted_mode: "NONE" }, { c: "abc" }, { c: "2147483648" }])("refuses %j", (query) => {
    expect(() => parseWith(schema, query, "query")).toThrow(expect.objectContaining({ code: "bodyNotReadable" }));
  });
});
