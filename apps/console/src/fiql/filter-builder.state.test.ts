import { parse, print } from "@harrier/fiql";
import { describe, expect, test } from "vitest";
import {
  added,
  built,
  type Condition,
  type Group,
  operatorsBehind,
  replaced,
  treeOf,
  withField,
  withOperator,
  withValue,
} from "./filter-builder.state.ts";

const tree = (query: string): Group => treeOf(query) as Group;
const first = (group: Group): Condition => group.parts[0] as Condition;

describe("a query and its tree are the same", () => {
  test.each([
    "name==a",
    "name==a;updatestatus!=error",
    "name==a,updatestatus==error;tag==x",
    "(name==a,updatestatus==error);tag==x",
    'attribute.hw=in=(a,"b c")',
    'description=="null"',
    "description=is=null",
    'description=is="null"',
    'description==""',
    "a==1,(b==2,c==3)",
  ])("%s", (query) => {
    expect(built(tree(query))).toEqual({ query: print(parse(query)) });
  });

  test("a text that cannot be read has none, and an empty one begins with an empty condition", () => {
    expect(treeOf("name==")).toBeUndefined();
    expect(tree(" ").parts).toHaveLength(1);
    expect(built(tree(""))).toEqual({ problem: "unfinished" });
  });
});

describe("building", () => {
  test("conditions and groups are added, filled in and taken out", () => {
    let it = tree("name==a");
    it = added(it, it.id, "group");
    const group = it.parts[1] as Group;
    expect(group.kind).toBe("or");
    const condition = first(group);
    expect(built(it)).toEqual({ problem: "unfinished" });
    it = withField(it, condition.id, "updatestatus", ["eq", "ne"], ["error", "pending"]);
    it = withValue(it, condition.id, "error");
    expect(built(it)).toEqual({ query: "name==a;updatestatus==error" });
    it = added(it, group.id, "condition");
    const second = (it.parts[1] as Group).parts[1] as Condition;
    expect(new Set([it.id, first(it).id, group.id, condition.id, second.id]).size).toBe(5);
    it = withValue(withField(it, second.id, "tag", ["eq"], undefined), second.id, "x y");
    expect(built(it)).toEqual({ query: 'name==a;(updatestatus==error,tag=="x y")' });
    it = replaced(it, it.id, (part) => ({ ...part, kind: "or" }) as Group);
    expect(built(it)).toEqual({ query: 'name==a,(updatestatus==error,tag=="x y")' });
    it = replaced(it, group.id, () => undefined);
    it = replaced(it, first(it).id, () => undefined);
    expect(built(it)).toEqual({ query: "" });
  });

  test("a group without conditions is not finished", () => {
    const it = tree("name==a;(b==1,c==2)");
    const [one, two] = (it.parts[1] as Group).parts as [Condition, Condition];
    expect(
      built(
        replaced(
          replaced(it, one.id, () => undefined),
          two.id,
          () => undefined,
        ),
      ),
    ).toEqual({ problem: "unfinished" });
  });

  test("a value becomes a list of one, and a list its first value", () => {
    const it = tree('name=="a,b"');
    const list = withOperator(it, first(it).id, "in");
    expect(built(list)).toEqual({ query: 'name=in=("a,b")' });
    const more = withValue(list, first(it).id, '"a,b", c');
    expect(built(more)).toEqual({ query: 'name=in=("a,b",c)' });
    expect(built(withValue(list, first(it).id, '"a,b'))).toEqual({ problem: "unfinished" });
    expect(built(withOperator(more, first(it).id, "ne"))).toEqual({ query: 'name!="a,b"' });
  });

  test("another field keeps what fits it", () => {
    const it = tree("createdat=lt=5");
    const id = first(it).id;
    expect(first(withField(it, id, "lastcontrollerrequestat", ["lt", "gt"], undefined))).toMatchObject({ operator: "lt", value: "5" });
    expect(first(withField(it, id, "updatestatus", ["eq", "ne"], ["error"]))).toMatchObject({ operator: "eq", value: "" });
  });

  test("keys without a name, and names that are none, are not finished", () => {
    const it = tree("attribute.hw==1");
    const id = first(it).id;
    expect(built(withField(it, id, "attribute.", ["eq"], undefined))).toEqual({ problem: "unfinished" });
    expect(built(withField(it, id, "attribute.a b", ["eq"], undefined))).toEqual({ problem: "unfinished" });
  });

  test("what the server would refuse says why", () => {
    const open = Array.from({ length: 11 }, () => "name==*a*").join(";");
    expect(built(tree(open)).problem).toMatch(/more than 10 patterns/);
  });
});

test("symbols have operators", () => {
  expect(operatorsBehind(["==", "=in=", "=?="])).toEqual(["eq", "in"]);
});
