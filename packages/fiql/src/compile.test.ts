// biome-ignore-all lint/suspicious/noTemplateCurlyInString: macros of the query language look like this
import { HarrierError } from "@harrier/errors";
import { describe, expect, test } from "vitest";
import { compile } from "./compile.ts";
import type { FieldMap } from "./fields.ts";
import { actionFields, orderBy, setFields, sortFields, targetFields } from "./index.ts";
import { parse } from "./parse.ts";

const fields: FieldMap = {
  name: { kind: "text", column: "t.name" },
  weight: { kind: "number", column: "t.weight" },
  at: { kind: "timestamp", column: "t.at" },
  state: { kind: "enum", column: "t.state", codes: { on: 1, off: 0 } },
  valid: { kind: "boolean", column: "t.valid" },
  attribute: { kind: "map", from: "a", on: "a.id = t.id", key: "a.key", value: "a.value" },
  tag: { kind: "toMany", from: "g", on: "g.id = t.id", fields: { name: { kind: "text", column: "g.name" } }, bare: "name" },
  set: {
    kind: "toOne",
    from: "s",
    on: "s.id = t.set_id",
    fields: { name: { kind: "text", column: "s.name" }, id: { kind: "number", column: "s.id" } },
  },
};

const sqlOf = (text: string, firstParam = 1) => compile(parse(text), fields, { firstParam, now: 1000, macros: { OVERDUE_TS: 400 } });

describe("compile (contract management.md §6.2)", () => {
  test.each<[string, string, unknown[]]>([
    ["name==A", "lower(t.name) = lower($1)", ["A"]],
    ["NAME==a*b", "lower(t.name) like lower($1)", ["a%b"]],
    ["name==a_b", "lower(t.name) = lower($1)", ["a_b"]],
    ["name==*a_b%\\*", "lower(t.name) like lower($1)", ["%a\\_b\\%*"]],
    ["name==a\\*b", "lower(t.name) = lower($1)", ["a*b"]],
    ["name=='a\\\\*b'", "lower(t.name) = lower($1)", ["a*b"]],
    ["name!=a", "(lower(t.name) = lower($1)) is not true", ["a"]],
    ["name==''", "(t.name is null or t.name = '')", []],
    ["name!=''", "(t.name is not null and t.name <> '')", []],
    ["name=is=null", "t.name is null", []],
    ["name=not=null", "t.name is not null", []],
    ["name=is='null'", "lower(t.name) = lower($1)", ["null"]],
    ["name==null", "lower(t.name) = lower($1)", ["null"]],
    ["name=lt=a*", "lower(t.name) < lower($1)", ["a*"]],
    ["name=in=(a*,b)", "lower(t.name) in (lower($1), lower($2))", ["a*", "b"]],
    ["name=out=(a,b)", "(lower(t.name) in (lower($1), lower($2))) is not true", ["a", "b"]],
    ["weight==5", "t.weight = $1::bigint", ["5"]],
    ["weight=ge=-5", "t.weight >= $1::bigint", ["-5"]],
    ["weight==*", "t.weight is not null", []],
    ["weight==''", "t.weight is null", []],
    ["at==5", "(t.at >= to_timestamp($1::bigint / 1000.0) and t.at < to_timestamp($2::bigint / 1000.0))", ["5", "6"]],
    ["at=le=5", "t.at < to_timestamp($1::bigint / 1000.0)", ["6"]],
    ["at=gt=5", "t.at >= to_timestamp($1::bigint / 1000.0)", ["6"]],
    ["at=lt=9223372036854775807", "t.at < to_timestamp($1::bigint / 1000.0)", ["8640000000000000"]],
    ["at=le=${overdue_ts}", "t.at < to_timestamp($1::bigint / 1000.0)", ["401"]],
    ["at=ge=${NOW_TS}", "t.at >= to_timestamp($1::bigint / 1000.0)", ["1000"]],
    ["name=='${OTHER} $${NOW_TS}'", "lower(t.name) = lower($1)", ["${OTHER} ${NOW_TS}"]],
    ["state==On", "t.state = $1", [1]],
    ["state=in=(on,off)", "t.state in ($1, $2)", [1, 0]],
    ["state!=off", "(t.state = $1) is not true", [0]],
    ["valid==TRUE", "t.valid = $1", [true]],
    [
      "attribute.HW.x==1*",
      "exists (select 1 from a where a.id = t.id and lower(a.key) = lower($1) and lower(a.value) like lower($2))",
      ["hw.x", "1%"],
    ],
    [
      "attribute.hw!=1",
      "exists (select 1 from a where a.id = t.id and lower(a.key) = lower($1) and (lower(a.value) = lower($2)) is not true)",
      ["hw", "1"],
    ],
    ["attribute.hw=is=null", "not exists (select 1 from a where a.id = t.id and lower(a.key) = lower($1))", ["hw"]],
    ["tag==x", "exists (select 1 from g where g.id = t.id and lower(g.name) = lower($1))", ["x"]],
    ["tag.name!=x", "not exists (select 1 from g where g.id = t.id and lower(g.name) = lower($1))", ["x"]],
    ["tag==''", "not exists (select 1 from g where g.id = t.id and (g.name is not null and g.name <> ''))", []],
    ["tag!=''", "exists (select 1 from g where g.id = t.id and (g.name is not null and g.name <> ''))", []],
    ["set.name=out=(a)", "not exists (select 1 from s where s.id = t.set_id and lower(s.name) in (lower($1)))", ["a"]],
    ["set.id=is=null", "not exists (select 1 from s where s.id = t.set_id and s.id is not null)", []],
    [
      "(name==a,name==b);weight==1",
      "((lower(t.name) = lower($1) or lower(t.name) = lower($2)) and t.weight = $3::bigint)",
      ["a", "b", "1"],
    ],
  ])("%s", (text, sql, values) => {
    expect(sqlOf(text)).toEqual({ sql, values });
  });

  test("placeholders begin where the caller says", () => {
    expect(sqlOf("name==a;weight==1", 4).sql).toBe("(lower(t.name) = lower($4) and t.weight = $5::bigint)");
  });

  test.each([
    ["bogus==x", "rsqlInvalidField"],
    ["constructor==x", "rsqlInvalidField"],
    ["name.sub==x", "rsqlInvalidField"],
    ["attribute==x", "rsqlInvalidField"],
    ["attribute.==x", "rsqlInvalidField"],
    ["set==x", "rsqlInvalidField"],
    ["set.bogus==x", "rsqlInvalidField"],
    ["set.constructor==x", "rsqlInvalidField"],
    ["state==bogus", "rsqlInvalidField"],
    ["state==toString", "rsqlInvalidField"],
    ["state==o*", "rsqlInvalidField"],
    ["state=lt=on", "rsqlParamSyntax"],
    ["valid==maybe", "rsqlParamSyntax"],
    ["valid=gt=true", "rsqlParamSyntax"],
    ["weight==abc", "rsqlParamSyntax"],
    ["weight==1.5", "rsqlParamSyntax"],
    ["weight==9223372036854775808", "rsqlParamSyntax"],
    ["at=lt=yesterday", "rsqlParamSyntax"],
  ])("%s is %s", (text, code) => {
    expect(() => sqlOf(text)).toThrow(expect.objectContaining({ code }) as HarrierError);
  });
});

describe("declared maps", () => {
  test("no value of a query ever reaches the SQL text", () => {
    const nasty = "'; drop table x --";
    const { sql, values } = compile(parse(`name=="${nasty}",attribute.${"a$1"}=="${nasty}"`), targetFields, { now: 0 });
    expect(sql).not.toContain("drop");
    expect(values).toEqual([nasty, "a$1", nasty]);
  });

  test("action status has the meaning of its dialect", () => {
    const status = (dialect: "spec" | "rest") => compile(parse("status==finished"), actionFields[dialect], { now: 0 });
    expect(status("spec")).toEqual({ sql: "t.active = $1", values: [false] });
    expect(status("rest")).toEqual({ sql: "t.status = $1", values: [0] });
  });

  test("a bare type means its key", () => {
    expect(compile(parse("type==os"), setFields, { now: 0 }).sql).toContain("lower(ty.key) = lower($1)");
    expect(() => compile(parse("assignedds==x"), targetFields, { now: 0 })).toThrow(HarrierError);
  });
});

describe("orderBy (contract management.md §7)", () => {
  test.each([
    [undefined, "t.controller_id asc"],
    ["name:ASC", "t.name asc, t.id asc"],
    [" Name : desc , createdAt:asc", "t.name desc, t.created_at asc, t.id asc"],
  ])("%s", (sort, sql) => {
    expect(orderBy(sort, sortFields.targets)).toBe(sql);
  });

  test.each([
    ["name", "sortParamSyntax"],
    ["name:asc:x", "sortParamSyntax"],
    ["name:", "sortParamSyntax"],
    ["name:asc,", "sortParamSyntax"],
    ["bogus:asc", "invalidField"],
    ["assignedds.name:asc", "invalidField"],
    ["constructor:asc", "invalidField"],
    ["name:up", "invalidDirection"],
  ])("%s is %s", (sort, code) => {
    expect(() => orderBy(sort, sortFields.targets)).toThrow(expect.objectContaining({ code }) as HarrierError);
  });
});
