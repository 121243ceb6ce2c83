import { describe, expect, test } from "vitest";
import { differenceOf, type File, type Part, pairFiles, pairModules, sameFile, sameModule } from "./compare.state.ts";

const part = (id: number, type: string, name: string, version = "1"): Part => ({ id, type, name, version });
const file = (name: string, sha256: string): File => ({ name, sha256, size: 1 });

const modules = (first: Part[], second: Part[]) =>
  pairModules(first, second).map((pair) => [pair.first?.id, pair.second?.id, differenceOf(pair, sameModule)]);
const files = (first: File[], second: File[]) =>
  pairFiles(first, second).map((pair) => [pair.first?.name, pair.second?.name, differenceOf(pair, sameFile)]);

describe("modules belong together", () => {
  test("if they are the same one", () => {
    expect(modules([part(1, "os", "a")], [part(2, "app", "b"), part(1, "os", "a")])).toEqual([
      [1, 1, "same"],
      [undefined, 2, "onlySecond"],
    ]);
  });

  test("if one is another version, even where another of the same type comes first", () => {
    expect(modules([part(1, "app", "a"), part(2, "app", "b")], [part(3, "app", "c"), part(4, "app", "a", "2")])).toEqual([
      [1, 4, "changed"],
      [2, 3, "changed"],
    ]);
  });

  test("and those of different types do not", () => {
    expect(modules([part(1, "os", "a")], [part(2, "app", "a")])).toEqual([
      [1, undefined, "onlyFirst"],
      [undefined, 2, "onlySecond"],
    ]);
  });

  test("nothing and nothing is nothing", () => expect(modules([], [])).toEqual([]));
});

test("files belong together by name, and those that were only renamed by their bytes", () => {
  expect(files([file("a", "1"), file("b", "2"), file("c", "3")], [file("a", "9"), file("d", "3"), file("e", "4")])).toEqual([
    ["a", "a", "changed"],
    ["b", undefined, "onlyFirst"],
    ["c", "d", "changed"],
    [undefined, "e", "onlySecond"],
  ]);
  expect(files([file("a", "1")], [file("a", "1")])).toEqual([["a", "a", "same"]]);
});
