import { expect, test } from "vitest";
import { sameEntity, tell, withoutParts } from "./audit.state.ts";

test("an entry leads to all entries of what it is about", () => {
  expect(sameEntity({ entity: "rollout", entityIds: ["11", "12"] })).toBe("entity==rollout;entityid==11");
  expect(sameEntity({ entity: "target", entityIds: ["a b"] })).toBe('entity==target;entityid=="a b"');
  expect(sameEntity({ entity: "session", entityIds: [] })).toBe("entity==session");
});

test.each([
  ["rollouts.pause", "rollout", ["13"], { verb: "paused", what: "rollout 13", to: "/rollouts/13", more: 0 }],
  ["targets.cancelAction", "target", ["a b", "7"], { verb: "cancelled an update of", what: "device a b", to: "/devices/a%20b", more: 0 }],
  ["softwareModules.create", "softwareModule", ["1", "2", "3"], { verb: "made", what: "module 1", to: "/software/modules/1", more: 2 }],
  ["rollouts.delete", "rollout", ["13"], { verb: "deleted", what: "rollout 13", more: 0 }],
  ["artifacts.delete", "artifact", ["4", "9"], { verb: "deleted a file of module", what: "4", to: "/software/modules/4", more: 0 }],
  ["configs.put", "config", ["pollingTime"], { verb: "changed", what: "setting pollingTime", more: 0 }],
  ["configs.putMany", "config", [], { verb: "changed", what: "settings", more: 0 }],
  ["rollouts.somethingNew", "rollout", ["13"], undefined],
  ["signIn", "session", [], undefined],
] as const)("%s of %s %j is told", (action, entity, entityIds, told) => {
  expect(tell({ action, entity, entityIds: [...entityIds] })).toEqual(told);
});

test("the parts of uploads are left out unless somebody wants or names them", () => {
  expect(withoutParts(undefined, false)).toBe("action!=artifactUploads.sendPart");
  expect(withoutParts("a==1,b==2", false)).toBe("(a==1,b==2);action!=artifactUploads.sendPart");
  expect(withoutParts("action==artifactUploads.sendPart", false)).toBe("action==artifactUploads.sendPart");
  expect(withoutParts(undefined, true)).toBeUndefined();
});
