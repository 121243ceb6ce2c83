import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, type ErrorBody, refused } from "../support/call.ts";
import type { Answer } from "../support/http.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { typeBuilder } from "../support/types.ts";

const json = { "content-type": "application/json" };
const unreadable = [400, "rest.body.notReadable"] as const;
const taken = [409, "repo.entityAlreadyExists"] as const;

interface Violation {
  path: string;
  problem: string;
  line?: number;
  column?: number;
}

const violations = ({ json: body }: Answer<ErrorBody>) => body.info?.["violations"] as Violation[];

/* Beyond its fixed message an error answer names the place in the request and the problem there. */
describe.each(dialects)("answers that say where and what, %s", (dialect) => {
  const build = builder(dialect);
  const { moduleType, setType, targetType } = typeBuilder(dialect);
  const { user } = accessBuilder(dialect);
  const rollouts = rolloutBuilder(dialect);
  const noTargets = (body: unknown, expected: readonly [number, string]) => refused(r.targets.create, dialect, { body }, expected);

  it.each([
    ["a member of a wrong type", [{ controllerId: "a", name: {} }], { path: "0.name", problem: "must be a text" }],
    ["a member of the second element", [{ controllerId: "a" }, { controllerId: "b", targetType: "x" }], { path: "1.targetType" }],
    ["a body that is no list", '"x"', { path: "", problem: "must be an object or a list" }],
  ])("%s", async (_case, body, expected) => {
    const answer = await refused(r.targets.create, dialect, { body, headers: json }, unreadable);
    expect(answer.json.message).toBe("The given request body is not well formed");
    expect(violations(answer)).toMatchObject([expected]);
  });

  it("a literal with a wrong value, and a missing one", async () => {
    const id = (await build.target()).controllerId;
    const params = { distributionSetId: (await build.set()).id };
    const answer = await refused(r.distributionSets.assignTargets, dialect, { params, body: [{ id, type: "hard" }] }, unreadable);
    expect(violations(answer)).toMatchObject([{ path: "0.type", problem: expect.stringMatching(/^must be one of .*soft/) }]);
    const none = await refused(r.distributionSets.invalidate, dialect, { params, body: {} }, unreadable);
    expect(violations(none)).toMatchObject([
      { path: "actionCancelationType", problem: expect.stringMatching(/^is missing, must be one of /) },
    ]);
    const unnamed = await refused(r.distributionSets.assignTargets, dialect, { params, body: [{ id }, {}] }, unreadable);
    expect(violations(unnamed)).toMatchObject([{ path: "1.id", problem: "is missing, must be a text" }]);
  });

  it("a violated limit: in the usual message, and with its place", async () => {
    const answer = await noTargets(
      [{ controllerId: "a" }, { controllerId: "b", name: "n".repeat(129) }],
      [400, "repo.constraintViolation"],
    );
    expect(answer.json.message).toMatch(/^1\.name /);
    expect(violations(answer)).toMatchObject([{ path: "1.name" }]);
  });

  it.each([
    ["a comma too many", '[{"controllerId": "a"},]', 1, 24],
    ["the second line", '[\n  {"controllerId": a}]', 2, 20],
    ["the end", '[{"controllerId": "a"}', 1, 23],
    ["a text without an end", '[{"controllerId": "a', 1, 21],
    ["no JSON at all", "name=x", 1, 1],
  ])("broken JSON: %s", async (_case, body, line, column) => {
    const answer = await refused(r.targets.create, dialect, { body, headers: json }, unreadable);
    expect(violations(answer)).toEqual([{ path: "", problem: expect.stringContaining(`line ${line}, column ${column}`), line, column }]);
  });

  it("at most twenty violations in a short answer, and nothing of what was sent", async () => {
    const secret = unique("secret");
    const body = Array.from({ length: 500 }, (_, n) => ({ controllerId: `t${n}`, securityToken: [secret], name: { [secret]: secret } }));
    const answer = await noTargets(body, unreadable);
    expect(violations(answer).length).toBeGreaterThan(5);
    expect(violations(answer).length).toBeLessThanOrEqual(20);
    expect(answer.text.length).toBeLessThan(4_096);
    expect(answer.text).not.toContain(secret);
    const broken = await refused(r.targets.create, dialect, { body: `[{"securityToken":"${secret}}]`, headers: json }, unreadable);
    expect(broken.text).not.toContain(secret);
    const deep = await refused(r.configs.putMany, dialect, { body: { ["k".repeat(100_000)]: null } }, unreadable);
    expect(deep.text.length).toBeLessThan(4_096);
  });

  it("the error of a list with an existing entity names it, wherever it is", async () => {
    const known = await build.target();
    const answer = await noTargets([{ controllerId: unique() }, { controllerId: known.controllerId }], taken);
    expect(answer.json.info?.["duplicate"]).toEqual({ controllerId: known.controllerId });
    expect(violations(answer)).toMatchObject([{ path: "1" }]);
    const controllerId = unique();
    const twice = await noTargets([{ controllerId }, { controllerId: unique() }, { controllerId }], taken);
    expect(twice.json.info?.["duplicate"]).toEqual({ controllerId });
    expect(violations(twice).map(({ path }) => path)).toEqual(["0", "2"]);
  });

  it.each([
    ["modules", r.softwareModules.create, { version: "1", type: "os" }],
    ["sets", r.distributionSets.create, { version: "1", type: "os" }],
    ["types of modules", r.softwareModuleTypes.create, {}],
    ["tags of targets", r.targetTags.create, {}],
    ["roles", r.roles.create, { permissions: [] }],
  ])("the error of a list of %s names the existing one too", async (_case, route, members) => {
    const name = unique();
    const body = [{ key: unique(), name: unique(), ...members }, ...["", ""].map(() => ({ key: unique(), name, ...members }))];
    const answer = await refused(route, dialect, { body }, taken);
    expect(answer.json.info?.["duplicate"]).toMatchObject({ name });
    expect(violations(answer).map(({ path }) => path)).toEqual(["1", "2"]);
  });

  it("the error of a filter and a rollout with a name in use names it", async () => {
    const name = unique();
    const filter: CallOptions = { body: { name, query: "name==x" } };
    const { targetFilters } = r;
    await call(targetFilters.create, dialect, filter);
    expect((await refused(targetFilters.create, dialect, filter, taken)).json.info?.["duplicate"]).toEqual({ name });
    const { prefix } = await rollouts.fleet(1);
    await rollouts.create(prefix, { name });
    expect((await rollouts.notCreated(prefix, { name }, taken)).json.info?.["duplicate"]).toEqual({ name });
  });

  it("the error names the missing permission", async () => {
    const reader = await user(["READ_TARGET"]);
    const message = "Insufficient Permission";
    const answer = await refused(r.targets.create, dialect, { body: [], auth: reader.auth }, [403, "insufficientPermission"]);
    expect(answer.json).toMatchObject({ message, info: { permissions: ["CREATE_TARGET"] } });
    const params = { distributionSetId: (await build.set()).id };
    const two = await refused(r.distributionSets.assignTargets, dialect, { params, body: [], auth: reader.auth }, [403]);
    expect(two.json.info?.["permissions"]).toEqual(["READ_REPOSITORY", "UPDATE_TARGET"]);
  });

  it("the error of an incomplete set names the module types that it lacks", async () => {
    const [a, b] = [await moduleType(), await moduleType()];
    const type = await setType([a.id, b.id]);
    const module = await build.module({ type: a.key });
    const set = await build.set({ type: type.key, modules: [{ id: module.id }] });
    const { controllerId } = await build.target();
    const incomplete = [400, "distributionset.incomplete"] as const;
    const params = { distributionSetId: set.id };
    const assigned = await refused(r.distributionSets.assignTargets, dialect, { params, body: [{ id: controllerId }] }, incomplete);
    expect(assigned.json.info).toEqual({ missingModuleTypes: [b.key] });
    const locked = await refused(r.distributionSets.update, dialect, { params, body: { locked: true } }, incomplete);
    expect(locked.json.info).toEqual({ missingModuleTypes: [b.key] });
    const rollout = await rollouts.notCreated(controllerId, { distributionSetId: set.id }, incomplete);
    expect(rollout.json.info).toEqual({ missingModuleTypes: [b.key] });
    const empty = await build.set({ type: (await setType([], [a.id])).key, modules: [] });
    const none = await refused(
      r.distributionSets.assignTargets,
      dialect,
      { params: { distributionSetId: empty.id }, body: [{ id: controllerId }] },
      incomplete,
    );
    expect(none.json.info).toEqual({ problem: "has no software module" });
  });

  it("the error of a set that does not fit names the targets and their types", async () => {
    const type = await targetType([]);
    const [plain, typed] = await build.targets({}, { targetType: type.id });
    const params = { distributionSetId: (await build.set()).id };
    const body = [{ id: plain?.controllerId }, { id: typed?.controllerId }];
    for (const offline of [false, true]) {
      const answer = await refused(r.distributionSets.assignTargets, dialect, { params, body, query: { offline } }, [
        400,
        "target.type.incompatible",
      ]);
      expect(answer.json.info?.["targets"]).toEqual([{ controllerId: typed?.controllerId, targetType: type.name }]);
    }
  });

  it("the error of a rollout without a set names the member, that of one with an unknown set names its id", async () => {
    const { prefix } = await rollouts.fleet(1);
    const none = await rollouts.notCreated(prefix, { distributionSetId: null }, [404, "repo.entityNotFound"]);
    expect(none.json.message).toContain("distributionSetId");
    expect(none.text).not.toContain("{0}");
    expect(violations(none)).toEqual([{ path: "distributionSetId", problem: "is missing" }]);
    const unknown = await rollouts.notCreated(prefix, { distributionSetId: 2_000_000_000 }, [404, "repo.entityNotFound"]);
    expect(unknown.json.message).toContain("2000000000");
  });

  it("the error of a window with a region in place of an offset shows the form of an offset", async () => {
    const [{ id }, { controllerId }] = [await build.set(), await build.target()];
    const maintenanceWindow = { schedule: "0 0 0 ? * *", duration: "00:10:00", timezone: "Europe/Berlin" };
    const options = { params: { distributionSetId: id }, body: [{ id: controllerId, maintenanceWindow }] };
    const answer = await refused(r.distributionSets.assignTargets, dialect, options, [400, "maintenanceScheduleInvalid"]);
    expect(answer.json.message).toContain("offset such as +02:00");
    expect(answer.json.message).not.toContain("characters");
  });
});
