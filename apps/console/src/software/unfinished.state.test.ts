import { expect, it } from "vitest";
import { forget, isSameFile, remember, unfinishedOf } from "./unfinished.state.ts";

function memory() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

const place = { tenant: "ACME", username: "ada", moduleId: 7 };
const one = { uploadId: "1", name: "a.bin", size: 9, head: "abc" };

it("uploads are kept for a user and a module until they end", () => {
  const store = memory();
  remember(store, place, one);
  remember(store, place, { ...one, uploadId: "2" });
  remember(store, place, { ...one, size: 10 });
  expect(unfinishedOf(store, place).map(({ uploadId, size }) => [uploadId, size])).toEqual([
    ["2", 9],
    ["1", 10],
  ]);
  for (const other of [{ moduleId: 8 }, { username: "bob" }, { tenant: "OTHER" }])
    expect(unfinishedOf(store, { ...place, ...other })).toEqual([]);
  forget(store, place, "1");
  forget(store, place, "2");
  expect([unfinishedOf(store, place), store.kept.size]).toEqual([[], 0]);
});

it("no more than twenty are kept of a module, the newest ones", () => {
  const store = memory();
  for (let n = 0; n < 30; n += 1) remember(store, place, { ...one, uploadId: String(n) });
  expect(unfinishedOf(store, place).map(({ uploadId }) => uploadId)).toEqual(Array.from({ length: 20 }, (_, n) => String(n + 10)));
});

it.each(["", "{", "7", "null", '[1, null, {"uploadId": 3}]'])("what cannot be read counts as none: %s", (text) => {
  const store = memory();
  remember(store, place, one);
  for (const key of store.kept.keys()) store.setItem(key, text);
  expect(unfinishedOf(store, place)).toEqual([]);
});

it.each([
  [{ name: "a.bin", size: 9 }, "abc", true],
  [{ name: "a.bin", size: 9 }, undefined, true],
  [{ name: "b.bin", size: 9 }, "abc", false],
  [{ name: "a.bin", size: 8 }, "abc", false],
  [{ name: "a.bin", size: 9 }, "abd", false],
])("the same file is known again by name, size and its first bytes: %j %s", (file, head, same) => {
  expect(isSameFile(one, file, head)).toBe(same);
});
