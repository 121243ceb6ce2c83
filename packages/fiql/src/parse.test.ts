// biome-ignore-all lint/suspicious/noTemplateCurlyInString: macros of the query language look like this
import { HarrierError } from "@harrier/errors";
import { describe, expect, test } from "vitest";
import type { Ast } from "./ast.ts";
import { parse } from "./parse.ts";

/** Renders a tree compactly, so that a table row shows all of it. */
function shape(ast: Ast): string {
  if (ast.kind !== "comparison") return `${ast.kind}(${ast.terms.map(shape).join(" ")})`;
  return `${ast.selector}:${ast.operator}:${ast.arguments.map((argument) => argument.text).join("|")}`;
}

describe("parse (contract management.md §6.1)", () => {
  test.each([
    ["name==a", "name:eq:a"],
    ["name == a", "name:eq:a"],
    ["name!=a", "name:ne:a"],
    ["x=lt=1", "x:lt:1"],
    ["x<1", "x:lt:1"],
    ["x=le=1", "x:le:1"],
    ["x<=1", "x:le:1"],
    ["x=GT=1", "x:gt:1"],
    ["x>1", "x:gt:1"],
    ["x=ge=1", "x:ge:1"],
    ["x>=1", "x:ge:1"],
    ["x=in=(a,b)", "x:in:a|b"],
    ["x=in=( a , 'b c' )", "x:in:a|b c"],
    ["x=in=a", "x:in:a"],
    ["x=out=(a)", "x:out:a"],
    ["x==(a)", "x:eq:a"],
    ["x=is=null", "x:is:null"],
    ["x=eq=null", "x:is:null"],
    ["x=not=null", "x:not:null"],
    ["x=ne=null", "x:not:null"],
    ["a==1;b==2,c==3", "or(and(a:eq:1 b:eq:2) c:eq:3)"],
    ["a==1,b==2;c==3", "or(a:eq:1 and(b:eq:2 c:eq:3))"],
    ["a==1 and b==2 or c==3", "or(and(a:eq:1 b:eq:2) c:eq:3)"],
    ["a==1 AND b==2 Or c==3", "or(and(a:eq:1 b:eq:2) c:eq:3)"],
    ["(a==1,b==2);c!=3", "and(or(a:eq:1 b:eq:2) c:ne:3)"],
    ["( a==1 or b==2 ) and c!=3", "and(or(a:eq:1 b:eq:2) c:ne:3)"],
    ["a==1 ; b==2", "and(a:eq:1 b:eq:2)"],
    ["attribute.a.b-c==x", "attribute.a.b-c:eq:x"],
    ["n==''", "n:eq:"],
    ['n==""', "n:eq:"],
    ["n=='it\\'s'", "n:eq:it's"],
    ["n=='a\\\\*b'", "n:eq:a\\*b"],
    ["n==a\\*b", "n:eq:a\\*b"],
    ['n=="(a;b,c) <=\'>"', "n:eq:(a;b,c) <='>"],
    ["n==or", "n:eq:or"],
    ["n==and and m==or", "and(n:eq:and m:eq:or)"],
    ["  n==a  ", "n:eq:a"],
    ["t=le=${OVERDUE_TS}", "t:le:${OVERDUE_TS}"],
  ])("%s", (text, expected) => {
    expect(shape(parse(text))).toBe(expected);
  });

  test.each([
    ["", 1],
    ["name", 5],
    ["name=bogus=x", 5],
    ["name=li=a", 5],
    ["name=x", 5],
    ["name==", 7],
    ["name==a b", 9],
    ["name==a;", 9],
    ["name==a,;b==c", 9],
    ["==a", 1],
    ["(name==a", 9],
    ["name==a)", 8],
    ["name==(a,b)", 7],
    ["name=in=()", 10],
    ["name=in=(a", 11],
    ["name=='a", 9],
    ["name==a~b", 8],
    ["name==a and", 9],
    ["name==a andb==c", 9],
    ["name==a\u0000", 8],
  ])("%j is a syntax error at position %d", (text, position) => {
    const error = catchError(() => parse(text));
    expect(error.code).toBe("rsqlParamSyntax");
    expect(error.message).toContain(`position ${position}:`);
  });

  test("nesting that would exhaust the stack is refused", () => {
    const deep = (n: number) => `${"(".repeat(n)}a==1${")".repeat(n)}`;
    expect(shape(parse(deep(100)))).toBe("a:eq:1");
    expect(catchError(() => parse(deep(101))).message).toContain("position 101: nested more than 100 levels deep");
    expect(catchError(() => parse(deep(8_000))).code).toBe("rsqlParamSyntax");
  });

  test.each<[string, string, string]>([
    ["10,000 terms", "a==1;".repeat(10_000), "longer than 16384 characters"],
    ["more comparisons than a query may have", `${"a==1,".repeat(200)}a==1`, "position 1001: more than 200 comparisons"],
    ["more values than a query may have", `a=in=(${"1,".repeat(1_000)}1)`, "more than 1000 values"],
    ["a name of a megabyte", `name==${"x".repeat(1 << 20)}`, "longer than 16384 characters"],
    ["a control character", "name=='a\u0007b'", "position 9: found U+0007"],
    ["a control character outside of values", "na\u001bme==a", "position 3: found U+001B"],
    ["delete", "name==a\u007f", "position 8: found U+007F"],
    [
      "more patterns than a query may have",
      `${"a==*x,".repeat(9)}a==x*y*,a!=*z`,
      "position 66: more than 10 patterns that begin with '*' or hold more than one '*'",
    ],
    ["half a character", "name=\ud83d", "position 5"],
  ])("%s is a syntax error", (_, text, message) => {
    const error = catchError(() => parse(text));
    expect(error.code).toBe("rsqlParamSyntax");
    expect(error.message).toContain(message);
  });

  test("patterns count unless an index helps, they only test presence, they are quoted, or the query is stored", () => {
    const cheap = ["a==x*", "a==*", "a==\\**", "a==x\\*y\\*", "a=in=(*x,*y*)", "b!=xy*"].map((term) => `${term},`.repeat(15)).join("");
    expect(() => parse(`${cheap}${"a==*x*,".repeat(9)}a==*y`)).not.toThrow();
    expect(() => parse(`${"a==*x,".repeat(199)}a==*y`, { stored: true })).not.toThrow();
  });

  test("white space may be in a query, because attributes may contain it", () => {
    expect(shape(parse("attribute.a=='x\ty\r\n'"))).toBe("attribute.a:eq:x\ty\r\n");
  });
});

function catchError(run: () => unknown): HarrierError {
  try {
    run();
  } catch (error) {
    if (error instanceof HarrierError) return error;
    throw error;
  }
  throw new Error("expected an error");
}
