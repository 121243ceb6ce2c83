import { expect, it } from "vitest";
import { withBehind } from "./behind.ts";
import type { Position } from "./outgoing.sql.ts";

const day = 86_400_000;
const before: Position = { seen: "9:9:", from: "5:5:", behind: [3], full: { "1/a": { seen: "2:2:", at: 4 } }, missed: {} };
const exchanges = (n: number, tenantId = 1) => Array.from({ length: n }, (_, i) => ({ tenantId, exchange: `e/${i}` }));
const left = (missed: Parameters<typeof withBehind>[1]): Position => JSON.parse(withBehind(JSON.stringify(before), missed, 5));

it("an exchange that has missed messages is kept with when it began to, and one that had before keeps that", () => {
  const full = [
    { tenantId: 1, exchange: "a" },
    { tenantId: 2, exchange: "a/b" },
  ];
  expect(left({ dropped: [], full })).toEqual({
    ...before,
    full: { "1/a": { seen: "2:2:", at: 4 }, "2/a/b": { seen: "5:5:", at: 5 } },
  });
});

it("a name that no exchange can have is not kept: the statement of all tenants could not store it", () => {
  const full = ["", "a\u0000b", "x\n", "e".repeat(256)].map((exchange) => ({ tenantId: 2, exchange }));
  expect(left({ dropped: [], full })).toEqual(before);
});

it("a tenant with more full exchanges than are kept one by one is behind as a whole", () => {
  expect(left({ dropped: [], full: exchanges(50, 2) }).behind).toEqual([3]);
  expect(left({ dropped: [4], full: exchanges(51, 2) })).toMatchObject({ behind: [3, 4, 2], missed: { 4: { seen: "5:5:", at: 5 } } });
});

it("what was missed more than a week ago is forgotten when something else is", () => {
  const old = JSON.stringify({ ...before, missed: { 3: { seen: "1:1:", at: 1 } } });
  expect(JSON.parse(withBehind(old, { dropped: [4], full: [] }, 8 * day)).missed).toEqual({ 4: { seen: "5:5:", at: 8 * day } });
});

it("an exchange of which it was not known since when it has missed messages has missed them since its next miss", () => {
  const old = JSON.stringify({ ...before, full: { "1/a": { seen: "", at: 4 }, "1/b": { seen: "", at: 4 } } });
  const { full } = JSON.parse(withBehind(old, { dropped: [], full: [{ tenantId: 1, exchange: "a" }] }, 5)) as Position;
  expect(full).toEqual({ "1/a": { seen: "5:5:", at: 5 }, "1/b": { seen: "", at: 4 } });
});

it("a tenant that has had a backlog has missed messages since what was seen of it", () => {
  const position = JSON.stringify({ ...before, backlogsFrom: { 4: "3:3:" } });
  const { missed, full } = JSON.parse(withBehind(position, { dropped: [4, 5], full: exchanges(1, 4) }, 5)) as Position;
  expect(missed).toEqual({ 4: { seen: "3:3:", at: 5 }, 5: { seen: "5:5:", at: 5 } });
  expect(full).toMatchObject({ "4/e/0": { seen: "3:3:", at: 5 } });
});
