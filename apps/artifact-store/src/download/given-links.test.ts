import { expect, test } from "vitest";
import { GivenLinks } from "./given-links.ts";

const file = { tenantId: 1, controllerId: "a", key: "1/x", size: 100 };

test("a device gets links to a file for its size, whatever ranges they are for, and again after a day", () => {
  let now = 1;
  const links = new GivenLinks(() => now);
  expect([links.take(file, 100), links.take(file, 100), links.take(file, 1)]).toEqual([true, false, false]);
  now += 24 * 3_600_000 - 1;
  expect(links.take(file, 1)).toBe(false);
  now += 2;
  expect([links.take(file, 40), links.take(file, 60), links.take(file, 1)]).toEqual([true, true, false]);
});

test("the day begins with the first link, also for those who ask on", () => {
  let now = 1;
  const links = new GivenLinks(() => now);
  links.take(file, 50);
  now += 23 * 3_600_000;
  expect([links.take(file, 50), links.take(file, 100)]).toEqual([true, false]);
  now += 3_600_000 + 1;
  expect(links.take(file, 100)).toBe(true);
});

test("other devices, files and tenants have links of their own", () => {
  const links = new GivenLinks();
  links.take(file, 100);
  for (const other of [
    { ...file, controllerId: "b" },
    { ...file, key: "1/y" },
    { ...file, tenantId: 2 },
  ])
    expect(links.take(other, 100)).toBe(true);
});

test("what was taken for a link that could not be made is given back", () => {
  const links = new GivenLinks();
  links.take(file, 100);
  links.release(file, 100);
  expect([links.take(file, 100), links.take(file, 1)]).toEqual([true, false]);
  links.release({ ...file, key: "1/unknown" }, 100);
  expect(links.take({ ...file, key: "1/unknown" }, 101)).toBe(false);
});
