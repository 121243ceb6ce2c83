import { describe, expect, it } from "vitest";
import { actionStatus } from "../codes.ts";
import { parseWith } from "../parse.ts";
import type { BodyOf, Route } from "../route.ts";
import { routeTable } from "../routes.ts";
import { actionStatusMembers } from "./action-view.ts";

function read<R extends Route>(route: R, body: unknown): BodyOf<R> {
  if (!route.body) throw new Error(`${route.id} takes no body`);
  return parseWith(route.body, body, "body") as BodyOf<R>;
}

function codeOf(route: Route, body: unknown): string {
  try {
    read(route, body);
    return "ok";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const { distributionSets, targets, softwareModules, rollouts, configs } = routeTable;

describe("software modules", () => {
  it.each([
    [{ name: "a", version: "1", type: "os" }, "ok"],
    [{ name: "a", version: "1" }, "constraintViolation"],
    [{ name: "n".repeat(129), version: "1", type: "os" }, "constraintViolation"],
    [{ name: "a", version: "v".repeat(65), type: "os" }, "constraintViolation"],
    [{ name: "<b>", version: "1", type: "os" }, "constraintViolation"],
    [{ name: "a", version: "1", type: "os", encrypted: "yes" }, "bodyNotReadable"],
  ])("reads %j: %s", (body, expected) => {
    expect(codeOf(softwareModules.create, [body])).toBe(expected);
  });
});

describe("distribution sets", () => {
  it("joins the members of old clients to the modules", () => {
    const body = { name: "s", version: "1", modules: { id: 11 }, os: { id: 12 }, application: { id: 13 } };
    expect(read(distributionSets.create, body)).toEqual([
      { name: "s", version: "1", modules: [{ id: 11 }, { id: 12 }, { id: 13 }], requiredMigrationStep: false, locked: false },
    ]);
  });

  it("leaves absent and null members of a change alone", () => {
    expect(read(distributionSets.update, { description: "d", name: null })).toEqual({ description: "d" });
    expect(codeOf(distributionSets.update, { name: "" })).toBe("constraintViolation");
  });
});

describe("targets", () => {
  it.each([
    [{ controllerId: "d-1" }, "ok"],
    [{ controllerId: "a b" }, "constraintViolation"],
    [{ controllerId: "x".repeat(257) }, "constraintViolation"],
    [{ name: "n" }, "constraintViolation"],
    [{ controllerId: "d", targetType: "x" }, "bodyNotReadable"],
    [{ controllerId: "d", securityToken: "" }, "constraintViolation"],
    [{ controllerId: "d", securityToken: "x".repeat(15) }, "constraintViolation"],
    [{ controllerId: "d", address: "a".repeat(513) }, "constraintViolation"],
  ])("reads %j: %s", (body, expected) => {
    expect(codeOf(targets.create, [body])).toBe(expected);
  });

  it("ignores the controllerId of a change", () => {
    expect(read(targets.update, { controllerId: "other", name: "n", targetType: -1 })).toEqual({ name: "n", targetType: -1 });
  });
});

describe("assignments", () => {
  it("fills in the defaults and ignores unknown members of a window", () => {
    const window = { schedule: "0 0 3 ? * * *", duration: "", timezone: null, nextStartAt: 5 };
    expect(read(distributionSets.assignTargets, [{ id: "d", maintenanceWindow: window }])).toEqual([
      { id: "d", type: "forced", forcetime: 0, maintenanceWindow: { schedule: "0 0 3 ? * * *" } },
    ]);
  });

  it.each([
    [{ id: 11 }, "ok"],
    [[{ id: 11, weight: 1000 }], "ok"],
    [[{ id: 11, weight: 1001 }], "constraintViolation"],
    [[{}], "bodyNotReadable"],
    [[{ id: 11, type: "hard" }], "bodyNotReadable"],
    [[{ id: "d" }], "bodyNotReadable"],
    [[], "ok"],
  ])("reads %j for a target: %s", (body, expected) => {
    expect(codeOf(targets.assign, body)).toBe(expected);
  });

  it.each([
    [{ forceType: "forced" }, "ok"],
    [{ forceType: "soft" }, "constraintViolation"],
    [{}, "constraintViolation"],
    [{ forceType: "hard" }, "bodyNotReadable"],
  ])("switches an action with %j: %s", (body, expected) => {
    expect(codeOf(targets.forceAction, body)).toBe(expected);
  });
});

describe("rollouts", () => {
  const base = { name: "r", targetFilterQuery: "name==*", distributionSetId: 11, amountGroups: 3 };

  it("fills in the defaults", () => {
    expect(read(rollouts.create, { ...base, startAt: 2 ** 63 })).toMatchObject({
      ...base,
      type: "forced",
      forcetime: 0,
      weight: 1000,
      dynamic: false,
      startAt: undefined,
    });
  });

  it("gives a threshold without an expression the value that clients use", () => {
    const created = read(rollouts.create, { ...base, successCondition: {}, errorCondition: { condition: "THRESHOLD", expression: "20" } });
    expect(created.successCondition).toEqual({ condition: "THRESHOLD", expression: "100" });
    expect(created.errorCondition).toEqual({ condition: "THRESHOLD", expression: "20" });
    expect(created.errorAction).toBeUndefined();
  });

  it.each([
    [{ ...base, name: undefined }, "constraintViolation"],
    [{ ...base, targetFilterQuery: undefined }, "ok"],
    [{ ...base, weight: -1 }, "constraintViolation"],
    [{ ...base, type: "hard" }, "bodyNotReadable"],
    [{ ...base, amountGroups: "three" }, "bodyNotReadable"],
    [{ ...base, successCondition: { condition: "OTHER" } }, "bodyNotReadable"],
    [{ ...base, successCondition: { expression: "80%" } }, "constraintViolation"],
    [{ ...base, successAction: { action: "PAUSE" } }, "ok"],
    [{ ...base, groups: [{ name: "g", targetPercentage: 0.5 }] }, "constraintViolation"],
    [{ ...base, groups: [{ targetPercentage: 50 }] }, "constraintViolation"],
    [[base], "bodyNotReadable"],
  ])("reads %j: %s", (body, expected) => {
    expect(codeOf(rollouts.create, body)).toBe(expected);
  });
});

describe("settings", () => {
  it.each([
    [{ value: true }, "ok"],
    [{ value: "" }, "ok"],
    [{ value: 0 }, "ok"],
    [{ value: {} }, "ok"],
    [{ value: null }, "bodyNotReadable"],
    [{}, "bodyNotReadable"],
    [{ value: "x".repeat(513) }, "constraintViolation"],
  ])("reads %j: %s; the settings table checks whether it fits the key", (body, expected) => {
    expect(codeOf(configs.put, body)).toBe(expected);
  });

  it("reads a map of raw values", () => {
    expect(read(configs.putMany, { pollingTime: "00:01:00", "implicit.lock.enabled": false })).toEqual({
      pollingTime: "00:01:00",
      "implicit.lock.enabled": false,
    });
    expect(codeOf(configs.putMany, { pollingTime: null })).toBe("bodyNotReadable");
  });
});

describe("the state of an action in both dialects", () => {
  it.each([
    ["RETRIEVED", true, { type: "update", status: "pending", detailStatus: "retrieved", active: true }, "retrieved"],
    ["CANCELING", true, { type: "cancel", status: "pending", detailStatus: "canceling", active: true }, "canceling"],
    ["CANCELED", false, { type: "cancel", status: "finished", detailStatus: "canceled", active: false }, "canceled"],
    ["ERROR", false, { type: "update", status: "finished", detailStatus: "error", active: false }, "error"],
    ["SCHEDULED", false, { type: "update", status: "finished", detailStatus: "scheduled", active: false }, "scheduled"],
  ] as const)("writes %s", (status, active, spec, word) => {
    expect(actionStatusMembers(actionStatus[status], active, "spec")).toEqual(spec);
    expect(actionStatusMembers(actionStatus[status], active, "rest")).toEqual({ type: spec.type, status: word, active });
  });
});

describe("scalars of another type (contract device.md §1.2)", () => {
  it("are read as what they say", () => {
    expect(read(softwareModules.create, [{ name: 7, version: 2, type: "os", encrypted: "false" }])).toMatchObject([
      { name: "7", version: "2", encrypted: false },
    ]);
    expect(
      read(distributionSets.create, [{ name: "s", version: 1.5, modules: [{ id: "59" }], requiredMigrationStep: "true" }]),
    ).toMatchObject([{ version: "1.5", modules: [{ id: 59 }], requiredMigrationStep: true }]);
    expect(read(distributionSets.assignTargets, [{ id: "d", weight: "5", forcetime: "12" }])).toMatchObject([{ weight: 5, forcetime: 12 }]);
    expect(read(targets.create, [{ controllerId: 4711, name: true }])).toMatchObject([{ controllerId: "4711", name: "true" }]);
  });

  it.each([
    [targets.assign, { id: "x" }],
    [targets.assign, { id: "" }],
    [targets.assign, { id: "1.5" }],
    [targets.assign, { id: true }],
    [targets.assign, { id: 11, weight: "heavy" }],
    [softwareModules.create, [{ name: "a", version: "1", type: "os", encrypted: 1 }]],
    [softwareModules.create, [{ name: ["a"], version: "1", type: "os" }]],
    [softwareModules.create, [{ name: "a", version: {}, type: "os" }]],
  ])("are refused if they do not have that meaning: %#", (route, body) => {
    expect(codeOf(route, body)).toBe("bodyNotReadable");
  });

  it("must keep the limits of what they are read as", () => {
    expect(codeOf(targets.assign, { id: 11, weight: "1001" })).toBe("constraintViolation");
    expect(codeOf(targets.create, [{ controllerId: "a", name: "n".repeat(129) }])).toBe("constraintViolation");
  });
});
