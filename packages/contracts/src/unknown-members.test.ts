import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Route } from "./route.ts";
import { routeTable as r, routes } from "./routes.ts";
import { knownMembers, maxNamed, maxNamedLength, unknownMembers } from "./unknown-members.ts";
import { arrayBody } from "./values.ts";

const unknownOf = (route: Pick<Route, "body" | "response">, body: unknown): string[] => {
  const known = knownMembers(route);
  return known === undefined ? [] : unknownMembers(known, body);
};

describe("unknown members of a body", () => {
  it("are named by their path, once each, whatever their index in a list", () => {
    const body = [
      { name: "a", version: "1", colour: "red", modules: [{ id: 1, weight: 2 }] },
      { name: "b", version: "1", Colour: "red", colour: "blue" },
    ];
    expect(unknownOf(r.distributionSets.create, body)).toEqual(["colour", "modules.weight", "Colour"]);
    // a single object is read as a list of it
    expect(unknownOf(r.distributionSets.create, body[1])).toEqual(["Colour", "colour"]);
  });

  it("do not include members of old clients, null members and members that an answer shows", () => {
    expect(unknownOf(r.distributionSets.create, { name: "a", version: "1", os: { id: 1 }, runtime: null, nothing: null })).toEqual([]);
    const shown = {
      controllerId: "a",
      name: "n",
      updateStatus: "in_sync",
      createdAt: 1,
      pollStatus: { overdue: true },
      _links: { self: {} },
    };
    expect(unknownOf(r.targets.update, shown)).toEqual([]);
    expect(unknownOf(r.targets.update, { ...shown, grupp: "x" })).toEqual(["grupp"]);
  });

  it("are found within optional members, preprocessed members and lists of one object", () => {
    const rollout = {
      name: "r",
      groups: [{ name: "g", sucessCondition: {}, successCondition: { expresion: "5" } }],
      maintenanceWindow: { zone: "Z" },
      dynamicGroupTemplate: { size: 3 },
    };
    expect(unknownOf(r.rollouts.create, rollout)).toEqual([
      "groups.sucessCondition",
      "groups.successCondition.expresion",
      "maintenanceWindow.zone",
      "dynamicGroupTemplate.size",
    ]);
    expect(unknownOf(r.distributionSets.assignTargets, [{ id: "a", forceTime: 1 }])).toEqual(["forceTime"]);
  });

  it("are limited in number and length, whatever is sent", () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${"x".repeat(1_000)}${n}`, 1]));
    const long = unknownOf(r.targets.update, { ...many });
    expect(long).toEqual(["x".repeat(maxNamedLength)]);
    const names = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`m${n}`, 1]));
    expect(unknownOf(r.targets.create, Array(1_000).fill(names))).toHaveLength(maxNamed + 1);
  });

  it("do not exist where any member is allowed: maps, texts, several shapes", () => {
    expect(unknownOf(r.configs.putMany, { anything: 1 })).toEqual([]);
    expect(unknownOf(r.targetTags.assign, ["a", { b: 1 }])).toEqual([]);
    const either = { body: z.object({ m: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) }) };
    expect(unknownOf(either, { m: { c: 1 } })).toEqual([]);
    expect(unknownOf({ body: arrayBody(z.looseObject({ a: z.string() })) }, [{ b: 1 }])).toEqual([]);
  });

  it("are detected in every body of the management interface that is an object or a list of objects", () => {
    const withoutMembers = routes
      .filter((route) => route.interface === "management" && route.body !== undefined && knownMembers(route) === undefined)
      .map(({ id }) => id);
    expect(withoutMembers.sort()).toMatchInlineSnapshot(`
      [
        "actions.deleteMany",
        "artifactUploads.sendPart",
        "artifacts.upload",
        "configs.putMany",
        "distributionSetTags.assign",
        "distributionSetTags.assignByPut",
        "distributionSetTags.unassign",
        "messaging.setPasswords",
        "roles.addPermissions",
        "roles.addScopes",
        "roles.removeScopes",
        "roles.replaceScopes",
        "targetGroups.assign",
        "targetGroups.assignTo",
        "targetGroups.unassign",
        "targetTags.assign",
        "targetTags.assignByPut",
        "targetTags.unassign",
        "targets.deleteActions",
        "targets.importCsv",
        "users.addPermissions",
      ]
    `);
  });
});
