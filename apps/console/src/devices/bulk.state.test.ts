import { targetChangeRequest } from "@harrier/contracts";
import { expect, test } from "vitest";
import { type BulkDraft, bulkActions, bulkBody, lacksOf } from "./bulk.state.ts";

const draft: BulkDraft = { action: "addTag", tag: "3", type: "4", set: "5", force: "soft" };

test.each(bulkActions)("the request of %s is one that the contract takes, for a query and for a list", (action) => {
  const query = bulkBody({ ...draft, action }, { q: "name==a", total: 12 });
  expect(targetChangeRequest.parse(query)).toEqual(query);
  const list = bulkBody({ ...draft, action }, { ids: ["a", "b"] });
  expect(targetChangeRequest.parse(list)).toEqual(list);
});

test("a change says what it lacks, and one that moves devices wants their number where they are many", () => {
  const lacks = (part: Partial<BulkDraft>, number: number, typed = "") => lacksOf({ ...draft, ...part }, number, typed);
  expect(lacks({ tag: "" }, 5)).toBe("tag");
  expect(lacks({ action: "setType", type: "" }, 5)).toBe("type");
  expect(lacks({ action: "assignSet", set: "" }, 5)).toBe("set");
  expect(lacks({ action: "removeType", tag: "", type: "", set: "" }, 5)).toBeUndefined();
  expect(lacks({ action: "cancelActions" }, 11)).toBe("number");
  expect(lacks({ action: "cancelActions" }, 11, "11")).toBeUndefined();
  expect(lacks({ action: "assignSet" }, 10)).toBeUndefined();
  expect(lacks({}, 5_000)).toBeUndefined();
});
