import { expect, test } from "vitest";
import { complete, completed, queryOf, quoted, toggled } from "./complete.ts";
import { targetFields } from "./fields.ts";

test("an empty query offers every field, the beginning of one those that begin so", () => {
  expect(complete("", targetFields).items).toHaveLength(targetFields.length);
  expect(complete("con", targetFields)).toEqual({ from: 0, items: ["controllerid"] });
  expect(complete("name==a;  UPD", targetFields)).toEqual({ from: 10, items: ["updatestatus"] });
});

test("a field is followed by its operators", () => {
  expect(complete("updatestatus", targetFields)).toEqual({ from: 12, items: ["==", "!=", "=in="] });
  expect(complete("(createdat", targetFields).items).toContain("=lt=");
});

test("words complete words, other values are asked of the server", () => {
  expect(complete("updatestatus==e", targetFields)).toEqual({ from: 14, items: ["error"] });
  expect(complete("name==Gat", targetFields)).toEqual({ from: 6, items: [], ask: { field: "name", prefix: "Gat" } });
  expect(complete("attribute.h", targetFields)).toEqual({ from: 10, items: [], ask: { field: "attribute", prefix: "h" } });
  expect(complete("attribute.Hw==r", targetFields)).toEqual({ from: 14, items: [], ask: { field: "attribute.Hw", prefix: "r" } });
  expect(complete("createdat=lt=1", targetFields)).toEqual({ from: 13, items: [] });
});

test("tags, types and sets are completed by their lists", () => {
  expect(complete("tag==be", targetFields)).toEqual({ from: 5, items: [], list: { of: "tags", prefix: "be" } });
  expect(complete("name==a;targettype.key!=", targetFields).list).toEqual({ of: "types", prefix: "" });
  expect(complete("installedds.name==os", targetFields).list).toEqual({ of: "sets", prefix: "os" });
});

test.each([
  ["upd|", "updatestatus", "updatestatus|"],
  ["name==a;upd|==error", "updatestatus", "name==a;updatestatus|==error"],
  ["updatestatus==er|r;name==a", "error", "updatestatus==error|;name==a"],
  ['tag=="be|ta";name==a', '"beta 2"', 'tag=="beta 2"|;name==a'],
  ["updatestatus|", "==", "updatestatus==|"],
  ["updatestatus|;name==a", "==", "updatestatus==|;name==a"],
])("in %s, where | is the caret, %s gives %s", (before, chosen, after) => {
  const [text, caret] = [before.replace("|", ""), before.indexOf("|")];
  const { from } = complete(text.slice(0, caret), targetFields);
  const done = completed(text, caret, from, chosen);
  expect(`${done.text.slice(0, done.caret)}|${done.text.slice(done.caret)}`).toBe(after);
});

test("a separator in quotes begins no new term", () => expect(complete('name=="a;b', targetFields).ask?.field).toBe("name"));

test.each([
  ["", ""],
  ["gate", "name==*gate*,controllerid==*gate*"],
  ["gate way", 'name=="*gate way*",controllerid=="*gate way*"'],
  ["name==a", "name==a"],
])("%s asks for %s", (text, query) => expect(queryOf(text)).toBe(query));

test("values that need quotes get them", () => expect([quoted("a-1*"), quoted('a "b"')]).toEqual(["a-1*", '"a \\"b\\""']));

test.each([
  [undefined, "a==1"],
  ["b==2", "b==2;a==1"],
  ["b==2,c==3", "(b==2,c==3);a==1"],
  ["b==2;a==1", "b==2"],
  ["a==1", undefined],
])("the condition a==1 on %s gives %s", (query, expected) => expect(toggled(query, "a==1")).toBe(expected));
