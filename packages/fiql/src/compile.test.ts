// biome-ignore-all lint/suspicious/noTemplateCurlyInString: macros of the query language look like this
import { HarrierError } from "@harrier/errors";
import { describe, expect, test } from "vitest";
import { compile } from "./compile.ts";
import type { FieldMap } from "./fields.ts";
import { actionFields, lookups, orderBy, setFields, sortFields, targetFields } from "./index.ts";
import { parse } from "./parse.ts";

const fields: FieldMap = {
  name: { kind: "text", column: "t.name" },
  weight: { kind: "number", column: "t.weight" },
  at: { kind: "timestamp", column: "t.at" },
  poll: { kind: "timestamp", column: "t.poll", hour: "t.hour" },
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
    ["name=lt=a*", "lower(t.name) ~<~ lower($1)", ["a*"]],
    ["name=ge=a", "lower(t.name) ~>=~ lower($1)", ["a"]],
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
    ["poll=lt=7200000", "(t.poll < to_timestamp($1::bigint / 1000.0) and t.hour <= $2::bigint)", ["7200000", "2"]],
    ["poll=ge=7200000", "(t.poll >= to_timestamp($1::bigint / 1000.0) and t.hour >= $2::bigint)", ["7200000", "1"]],
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

  test("placeholders begin with the caller's number", () => {
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

describe("fields with declared keys", () => {
  test("no value of a query ever reaches the SQL text", () => {
    const nasty = "'; drop table x --";
    const { sql, values } = compile(parse(`name=="${nasty}",attribute.${"a$1"}=="${nasty}"`), targetFields, { now: 0 });
    expect(sql).not.toContain("drop");
    expect(values).toEqual([nasty, "a$1", nasty]);
  });

  test("the status of an action has the meaning of its dialect", () => {
    const status = (dialect: "spec" | "rest") => compile(parse("status==finished"), actionFields[dialect], { now: 0 });
    expect(status("spec")).toEqual({ sql: "t.active = $1", values: [false] });
    expect(status("rest")).toEqual({ sql: "t.status = $1", values: [0] });
  });

  test("a type without a sub field means its key", () => {
    expect(compile(parse("type==os"), setFields, { now: 0 }).sql).toContain("lower(ty.key) = lower($1)");
    expect(() => compile(parse("assignedds==x"), targetFields, { now: 0 })).toThrow(HarrierError);
  });
});

describe("looked-up ids", () => {
  const q = "assignedds.name==a*;name==x,targettype.key!=gw";
  const options = { now: 1000, tenantId: 7 };

  test("one statement finds the ids behind all relations, and the query then uses the ids", () => {
    const ast = parse(q);
    const lookup = lookups(ast, targetFields, options);
    expect(lookup?.values).toEqual([7, "a%", "gw"]);
    expect(lookup?.sql).toBe(
      'select array(select ds.id::text from management.distribution_sets_v1 ds where ds.tenant_id = $1 and lower(ds.name) like lower($2) limit 501) as "0", ' +
        'array(select ty.id::text from management.target_types_v1 ty where ty.tenant_id = $1 and lower(ty.key) = lower($3) limit 501) as "1"',
    );
    const found = lookup?.found({ 0: ["5", "6"], 1: [] }) ?? new Map();
    expect(compile(ast, targetFields, { now: 1000, found })).toEqual({
      sql:
        "((t.assigned_set_id = any($1::bigint[]) and lower(t.name) = lower($2)) or " +
        "(t.target_type_id = any($3::bigint[])) is not true)",
      values: [["5", "6"], "x", []],
    });
  });

  test("too many ids are joined as before, and without a relation nothing is looked up", () => {
    const ast = parse(q);
    const many = Array.from({ length: 501 }, (_, n) => String(n));
    const found = lookups(ast, targetFields, options)?.found({ 0: many, 1: ["911"] }) ?? new Map();
    expect(found.size).toBe(1);
    expect(compile(ast, targetFields, { now: 1000, found }).sql).toContain("exists (select 1 from management.distribution_sets_v1 ds");
    expect(lookups(parse("name==x;attribute.a==1"), targetFields, options)).toBeUndefined();
  });
});

test("only a few joins are left to the planner", () => {
  const q = Array.from({ length: 8 }, (_, n) => `attribute.k${n}==v`).join(";");
  expect(compile(parse(q), targetFields, { now: 0 }).sql.match(/\) is true/g)).toHaveLength(3);
});

describe("orderBy (contract management.md §7)", () => {
  test.each([
    [undefined, "t.controller_id asc"],
    ["name:ASC", "t.name asc, t.id asc"],
    [" Name : desc , createdAt:asc", "t.name desc, t.created_at asc, t.id asc"],
    ["name:asc,name:desc", "t.name asc, t.id asc"],
    // nothing can follow a unique criterion
    ["id:desc", "t.controller_id desc"],
    ["name:asc,controllerid:desc,createdat:asc", "t.name asc, t.controller_id desc"],
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
