import { expect, test } from "vitest";
import type { Argument, Ast, Operator } from "./ast.ts";
import { parse } from "./parse.ts";
import { needsQuotes, print } from "./print.ts";
import { createRandom, type Random } from "./random.fixture.ts";

/** The tree without positions. */
function bare(ast: Ast): Ast {
  if (ast.kind !== "comparison") return { ...ast, terms: ast.terms.map(bare) };
  return { ...ast, at: 0, arguments: ast.arguments.map((argument) => ({ ...argument, at: 0 })) };
}

test.each([
  ["name==a", "name==a"],
  ["name == 'a b'", 'name=="a b"'],
  ['name=="say \\"hi\\" \\\\"', 'name=="say \\"hi\\" \\\\"'],
  ["x<1 and y>=2 or z!=3", "x=lt=1;y=ge=2,z!=3"],
  ["(a==1,b==2);c==3", "(a==1,b==2);c==3"],
  ["a==1;(b==2;c==3)", "a==1;(b==2;c==3)"],
  ["a==1,(b==2;c==3)", "a==1,b==2;c==3"],
  ["((a==1))", "a==1"],
  ["x=in=a", "x=in=(a)"],
  ["x=out=( a, 'b,c' )", 'x=out=(a,"b,c")'],
  ["x=is=null", "x=is=null"],
  ["x=is='null'", 'x=is="null"'],
  ["t=le=$" + "{overdue_ts}", "t=le=$" + "{overdue_ts}"],
])("%s is written as %s", (query, written) => {
  expect(print(parse(query))).toBe(written);
  expect(print(parse(written))).toBe(written);
});

const operators: readonly Operator[] = ["eq", "ne", "lt", "le", "gt", "ge", "in", "out", "is", "not"];
const texts = [
  "a",
  "null",
  "",
  "a b",
  "ä*ö",
  'say "hi"',
  "it's",
  "back\\slash",
  "(x)",
  "1,2",
  "a;b",
  "=in=",
  "\t",
  "\u00a0",
  "$" + "{NOW_TS}",
  "and",
];

function randomTree(random: Random, depth = 0): Ast {
  if (depth === 4 || random.chance(0.4)) {
    const operator = random.pick(operators);
    const count = operator === "in" || operator === "out" ? 1 + random.below(3) : 1;
    const list = Array.from({ length: count }, (): Argument => {
      const text = random.pick(texts);
      return { text, quoted: needsQuotes(text) || random.chance(0.3), at: 0 };
    });
    return { kind: "comparison", selector: random.pick(["name", "attribute.hw-rev", "and", "or.x"]), operator, arguments: list, at: 0 };
  }
  return {
    kind: random.pick(["and", "or"] as const),
    terms: Array.from({ length: 2 + random.below(2) }, () => randomTree(random, depth + 1)),
  };
}

test.each([1, 2, 3])("what is written is read as the same tree (seed %i)", (seed) => {
  const random = createRandom(seed);
  for (let nth = 0; nth < 500; nth += 1) {
    const tree = randomTree(random);
    expect(bare(parse(print(tree), { stored: true })), print(tree)).toEqual(tree);
  }
});
