import { expect, test } from "vitest";
import { differing } from "./edits.state.ts";

test("only what was edited to something else is sent, and what was emptied is sent empty", () => {
  const read = { name: "a", colour: "red", types: ["x"], on: true };
  expect(differing(read, {})).toEqual({});
  expect(differing(read, { name: " a ", types: ["x"], on: true })).toEqual({});
  expect(differing(read, { name: "b ", colour: "", types: [] })).toEqual({ name: "b", colour: "", types: [] });
});

test("what was typed stays when another has changed something meanwhile, and so does what the other has changed", () => {
  const edits = { name: "mine" };
  expect({ ...{ name: "a", colour: "theirs" }, ...edits }).toEqual({ name: "mine", colour: "theirs" });
  expect(differing({ name: "a", colour: "theirs" }, edits)).toEqual({ name: "mine" });
  expect(differing({ name: "mine", colour: "theirs" }, edits)).toEqual({});
});
