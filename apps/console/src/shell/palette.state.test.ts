import { expect, test } from "vitest";
import { isMeant, jumpsOf, mayJump, placeOf, stillFound } from "./palette.state.ts";

test("what was found becomes lines that lead to its page, kind by kind", () => {
  const found = {
    rollouts: [{ id: 11, name: "fw 2.4" }],
    targets: [{ controllerId: "a/b", name: "Gate" }, { controllerId: "c" }],
    distributionSets: [{ id: 3, name: "fw", version: "2.4" }],
    targetFilters: [{ id: 5, name: "old" }],
    targetTags: [{ id: 6, name: 'in "the" hall' }],
    distributionSetTags: [{ id: 7, name: "lts" }],
    other: [{ id: 1, name: "unseen" }],
  };
  const kinds = { targets: "", distributionSets: "", rollouts: "", targetFilters: "", targetTags: "", distributionSetTags: "" };
  const lines = jumpsOf(found, kinds);
  expect(lines.map(({ label, beside, to, q }) => [label, beside, to, q].filter((part) => part !== undefined))).toEqual([
    ["Gate", "a/b", "/devices/a%2Fb"],
    ["c", "/devices/c"],
    ["fw", "2.4", "/software/sets/3"],
    ["fw 2.4", "/rollouts/11"],
    ["old", "/filters/5"],
    ['in "the" hall', "/devices", String.raw`tag=="in \"the\" hall"`],
    ["lts", "/software", "tag==lts"],
  ]);
});

test("of what an earlier text has found only that stays which begins with the text as typed", () => {
  const found = {
    targets: [{ controllerId: "fw-1", name: "Gate" }, { controllerId: "x", name: "FW-10" }, { controllerId: "fa" }],
    distributionSets: [{ id: 3, name: "f", version: "fw-1" }],
    rollouts: undefined,
  };
  expect(stillFound(found, "Fw-1")).toEqual({ targets: found.targets.slice(0, 2), distributionSets: [], rollouts: undefined });
});

test.each([
  ["Sign-in of devices", "sign", true],
  ["Sign-in of devices", "DEV", true],
  ["Sign-in of devices", "of dev", true],
  ["Sign-in of devices", "in", false],
  ["Users", "", true],
])("%s is meant by %s: %s", (label, text, meant) => {
  expect(isMeant(label, text)).toBe(meant);
});

const lineOf = (id: string) => ({ id, group: "g", label: id, to: `/${id}` });
const [page, hit, other] = [lineOf("page"), lineOf("hit"), lineOf("other")];

test.each([
  ["a page", { pages: 1, lines: [page, hit], isKnown: false }, undefined, 0, true],
  ["a hit of the whole text", { pages: 0, lines: [hit, other], isKnown: true }, undefined, 0, true],
  ["a hit that the keys went to", { pages: 0, lines: [hit, other], isKnown: false }, "other", 1, true],
  ["a hit of an earlier text", { pages: 0, lines: [hit, other], isKnown: false }, undefined, 0, false],
  ["a hit that has gone", { pages: 0, lines: [hit], isKnown: false }, "other", 0, false],
  ["nothing yet", { pages: 0, lines: [], isKnown: false }, undefined, 0, false],
  ["nothing any more", { pages: 0, lines: [], isKnown: false }, "other", 0, false],
  ["nothing at all", { pages: 0, lines: [], isKnown: true }, undefined, 0, true],
])("Enter at %s", (_, lines, chosen, place, jumps) => {
  expect(placeOf(lines, chosen)).toBe(place);
  expect(mayJump(lines, chosen)).toBe(jumps);
});
