import { expect, test } from "vitest";
import { planKeys } from "./key-plan.ts";

const day = 24 * 60 * 60 * 1000;
const rotateMs = 90 * day;
const lead = 600_000;
const first = { number: 1, createdAt: 0, signsFrom: 0 };
const second = { number: 2, createdAt: rotateMs, signsFrom: rotateMs + lead };

test("the first key signs at once", () => {
  expect(planKeys([], { now: 0, rotateMs })).toEqual({ signs: undefined, make: { number: 1, inSeconds: 0 }, retired: [] });
  expect(planKeys([first], { now: 0, rotateMs })).toEqual({ signs: 1, make: undefined, retired: [] });
});

test("a successor is published before it signs, and is made once", () => {
  expect(planKeys([first], { now: rotateMs - 1, rotateMs }).make).toBeUndefined();
  expect(planKeys([first], { now: rotateMs, rotateMs })).toEqual({ signs: 1, make: { number: 2, inSeconds: 600 }, retired: [] });
  expect(planKeys([first, second], { now: rotateMs + lead - 1, rotateMs })).toEqual({ signs: 1, make: undefined, retired: [] });
  expect(planKeys([first, second], { now: rotateMs + lead, rotateMs })).toEqual({ signs: 2, make: undefined, retired: [] });
});

test("a key stays as long as a token of it may be valid", () => {
  expect(planKeys([first, second], { now: rotateMs + lead + day, rotateMs }).retired).toEqual([]);
  expect(planKeys([first, second], { now: rotateMs + lead + 2 * day, rotateMs })).toEqual({ signs: 2, make: undefined, retired: [1] });
});

test("a key still signs after the clock was set back", () => {
  expect(planKeys([second], { now: 0, rotateMs }).signs).toBe(2);
});
