import { expect, test } from "vitest";
import { sameEntity } from "./audit.state.ts";

test("an entry leads to all entries of what it is about", () => {
  expect(sameEntity({ entity: "rollout", entityIds: ["11", "12"] })).toBe("entity==rollout;entityid==11");
  expect(sameEntity({ entity: "target", entityIds: ["a b"] })).toBe('entity==target;entityid=="a b"');
  expect(sameEntity({ entity: "session", entityIds: [] })).toBe("entity==session");
});
