import { type ActionView, type Route, routeTable as r, type TargetFacet, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import type { Page } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { tagBuilder } from "../support/tags.ts";
import { typeBuilder } from "../support/types.ts";
import { eventually } from "../support/wait.ts";

// What consoles read of targets and actions (contract console.md §1).
describe.each(dialects)("lists for consoles, %s", (dialect) => {
  const build = builder(dialect);
  const tags = tagBuilder(dialect);
  const rollouts = rolloutBuilder(dialect);
  const listed = async (controllerId: string, query: Record<string, string> = {}) => {
    const q = `controllerid==${controllerId}`;
    return (await call<Page<TargetView>>(r.targets.list, dialect, { query: { q, ...query } })).json.content[0] as TargetView;
  };

  it("console M01 a user is told who they are, and what their permissions are restricted to", async () => {
    const { id: typeId } = await typeBuilder(dialect).targetType();
    const grants = [
      "READ_ROLLOUT",
      { permission: "READ_TARGET", targetTypeScopes: [typeId] },
      { permission: "UPDATE_TARGET", targetTypeScopes: [] },
    ];
    const { auth, id } = await accessBuilder(dialect).user(grants);
    const { json } = await call(r.userinfo.get, dialect, { auth });
    expect(json).toMatchObject({ kind: "user", id, targetTypeScopes: { READ_TARGET: [typeId], UPDATE_TARGET: [] } });
    expect(json).not.toHaveProperty("issuer");
    expect((await call(r.userinfo.get, dialect)).json).toMatchObject({ targetTypeScopes: {} });
  });

  it("console M03 a full row of targets names its sets, its open action and its tags", async () => {
    const { controllerId, actionId, setId } = await build.deployment();
    const { id: tagId, name } = await tags.targetTag({ colour: "blue" });
    await call(r.targetTags.assignOne, dialect, { params: { targetTagId: tagId, controllerId } });
    const row = await listed(controllerId, { representation: "full" });
    expect(row.assignedSet).toMatchObject({ id: setId, version: "1.0" });
    expect(row).not.toHaveProperty("installedSet");
    expect(row.openAction).toEqual({ id: actionId, detailStatus: "running", since: expect.any(Number) });
    expect(row.tags).toEqual([{ id: tagId, name, colour: "blue" }]);

    await device(controllerId).feedback(actionId, report("closed", "success"));
    const done = await listed(controllerId, { representation: "full" });
    expect(done.installedSet).toEqual(row.assignedSet);
    expect(done).not.toHaveProperty("openAction");
    const plain = await listed(controllerId);
    for (const member of ["assignedSet", "installedSet", "openAction", "tags"]) expect(plain).not.toHaveProperty(member);
  });

  it("console M04 a row of actions names target, set, group and the last message", async () => {
    const { prefix: fleet, ids: members } = await rollouts.fleet(1);
    const set = await build.set();
    const { id: rolloutId } = await rollouts.running(fleet, { amountGroups: 1, distributionSetId: set.id });
    const [group] = await rollouts.groupsBecome(rolloutId, "running");
    const [controllerId] = members as [string];
    const query = { q: `rollout.id==${rolloutId}` };
    const shown = async () => (await call<Page<ActionView>>(r.actions.list, dialect, { query })).json.content[0] as ActionView;
    const { id: actionId } = await shown();
    await device(controllerId).feedback(actionId, report("closed", "failure", { details: ["step 1", "no space left"] }));
    const row = await shown();
    expect(row).toMatchObject({
      target: { controllerId },
      distributionSet: { id: set.id, name: set.name, version: set.version },
      rolloutGroup: { id: group?.id, name: group?.name },
      lastMessage: "no space left",
    });
    const ofTarget = await call<Page<ActionView>>(r.targets.listActions, dialect, { params: { targetId: controllerId } });
    expect(ofTarget.json.content).toEqual([row]);
  });

  it("console M09 actions are asked for by the last poll and the type of their target", async () => {
    const { controllerId, actionId } = await build.deployment();
    const found = async (condition: string) => {
      const query = { q: `target.controllerid==${controllerId};${condition}` };
      return (await call<Page<ActionView>>(r.actions.list, dialect, { query })).json.content.map(({ id }) => id);
    };
    expect(await found("target.lastcontrollerrequestat=is=null")).toEqual([actionId]);
    await device(controllerId).poll();
    const overdue = `$\{OVERDUE_TS}`;
    await eventually(async () => (await found(`target.lastcontrollerrequestat=gt=${overdue}`)).length === 1);
    expect(await found(`target.lastcontrollerrequestat=le=${overdue}`)).toEqual([]);
    expect(await found("target.targettype.key==none")).toEqual([]);
    expect(await found("target.targettype.key!=none")).toEqual([actionId]);
  });

  it("console M12 targets are counted by what they have", async () => {
    const [set, tag] = [await build.set(), await tags.targetTag()];
    const made = unique("sum");
    const [first, second] = [`${made}-1`, `${made}-2`];
    await build.targets({ controllerId: first }, { controllerId: second }, { controllerId: `${made}-3` });
    await build.assignAll(set.id, [{ id: first }, { id: second }]);
    await call(r.targetTags.assignOne, dialect, { params: { targetTagId: tag.id, controllerId: first } });
    await device(first).configData({ data: { hw: "rev 1" } });
    const query = { q: `controllerid==${made}*`, by: "UpdateStatus, tag,assignedds,overdue,attribute.HW" };
    const { facets } = (await call<{ facets: TargetFacet[] }>(r.targets.summary, dialect, { query })).json;
    expect(facets.map(({ by }) => by)).toEqual(["updatestatus", "tag", "assignedds", "overdue", "attribute.HW"]);
    expect(facets.map(({ values }) => values)).toEqual([
      [
        { value: "pending", count: 2 },
        { value: "unknown", count: 1 },
      ],
      [{ value: tag.name, count: 1 }],
      [{ value: String(set.id), label: `${set.name}:1.0`, count: 2 }],
      [{ value: "false", count: 3 }],
      [{ value: "rev 1", count: 1 }],
    ]);
    expect(facets.map(({ without }) => without)).toEqual([0, 2, 1, 0, 2]);
    const limited = await call<{ facets: TargetFacet[] }>(r.targets.summary, dialect, { query: { ...query, by: "updatestatus", top: 1 } });
    expect(limited.json.facets).toEqual([{ by: "updatestatus", values: [{ value: "pending", count: 2 }], other: 1, without: 0 }]);
    for (const by of ["", "name"]) await refused(r.targets.summary, dialect, { query: { by } }, [400, "repo.constraintViolation"]);
  });

  type Walked = Partial<Page<Record<string, unknown>>> & { content: Record<string, unknown>[]; next?: string; totalRelation?: string };
  const read = async (route: Route, options: CallOptions) => (await call<Walked>(route, dialect, options)).json;

  /** Walks a list two items at a time; there is no total on the way. */
  const walk = async (route: Route, options: CallOptions): Promise<Record<string, unknown>[]> => {
    const seen: Record<string, unknown>[] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const query: NonNullable<CallOptions["query"]> = { ...options.query, limit: 2, total: "none", after };
      const { content, next, ...rest }: Walked = await read(route, { ...options, query });
      expect(rest).toEqual({ size: content.length });
      seen.push(...content);
      after = next;
      if (seen.length > 2_000) throw new Error("the walk has no end");
    }
    return seen;
  };

  const prefix = unique("walk");
  const ids = Array.from({ length: 5 }, (_, n) => `${prefix}-${n}`);
  const matching = { q: `controllerid==${prefix}*` };

  it("console M02 every list of targets is walked by its cursor, each target once", async () => {
    const group = unique("group");
    await build.targets(...ids.map((controllerId) => ({ controllerId, group, name: controllerId.endsWith("4") ? "a" : "b" })));
    const [{ id: distributionSetId }, { id: targetTagId }] = [await build.set(), await tags.targetTag()];
    for (const controllerId of ids) await call(r.targetTags.assignOne, dialect, { params: { targetTagId, controllerId } });
    const { id: rolloutId } = await rollouts.running(prefix, { amountGroups: 1, distributionSetId });
    const [{ id: groupId } = { id: 0 }] = await rollouts.groupsBecome(rolloutId, "running");
    const lists: [Route, CallOptions][] = [
      [r.targets.list, { query: matching }],
      [r.distributionSets.listAssignedTargets, { params: { distributionSetId } }],
      [r.targetTags.listAssigned, { params: { targetTagId } }],
      [r.targetGroups.listTargets, { query: { group } }],
      [r.targetGroups.listTargetsOf, { params: { group } }],
      [r.rollouts.groupTargets, { params: { rolloutId, groupId } }],
    ];
    for (const [route, options] of lists) {
      expect(
        (await walk(route, options)).map(({ controllerId }) => controllerId),
        route.id,
      ).toEqual(ids);
      const sorted = { ...options, query: { ...options.query, sort: "name:ASC,id:DESC" } };
      const expected = [4, 3, 2, 1, 0].map((n) => ids[n]);
      expect(
        (await walk(route, sorted)).map(({ controllerId }) => controllerId),
        route.id,
      ).toEqual(expected);
    }
  });

  it("console M02 the total is exact, left out, or counted no further than asked", async () => {
    const total = async (mode?: string) => {
      const { content, next, size, ...rest } = await read(r.targets.list, {
        query: { ...matching, limit: 1, ...(mode === undefined ? {} : { total: mode }) },
      });
      expect([content.length, size, next !== undefined]).toEqual([1, 1, mode !== undefined]);
      return rest;
    };
    expect(await total()).toEqual({ total: 5 });
    expect(await total("exact")).toEqual({ total: 5 });
    expect(await total("none")).toEqual({});
    expect(await total("atMost:4")).toEqual({ total: 4, totalRelation: "gte" });
    expect(await total("atMost:5")).toEqual({ total: 5, totalRelation: "eq" });
    await refused(r.targets.list, dialect, { query: { total: "some" } }, [400, "rest.body.notReadable"]);
  });

  it("console M02 a cursor of another sort, or none at all, is refused; a restricted user walks what they may see", async () => {
    const { next } = await read(r.targets.list, { query: { ...matching, total: "none", limit: 1 } });
    const invalid = [400, "repo.constraintViolation"] as const;
    await refused(r.targets.list, dialect, { query: { ...matching, after: next as string, sort: "name:ASC" } }, invalid);
    await refused(r.audit.list, dialect, { query: { after: next as string } }, invalid);
    await refused(r.actions.list, dialect, { query: { after: "WyJ4Il0" } }, invalid);
    const { auth } = await accessBuilder(dialect).user([{ permission: "READ_TARGET", targetTypeScopes: [] }]);
    const none = await read(r.targets.list, { auth, query: { total: "exact", after: next as string } });
    expect(none).toEqual({ content: [], total: 0, size: 0 });
  });

  it("console M02 actions and the audit trail are walked from the newest to the oldest", async () => {
    const { controllerId: targetId } = await build.deployment();
    for (let n = 0; n < 4; n++) await build.assign((await build.set()).id, targetId);
    const ofTarget = await walk(r.targets.listActions, { params: { targetId } });
    const all = await walk(r.actions.list, { query: { q: `target.controllerid==${targetId}` } });
    for (const walked of [ofTarget, all]) {
      const numbers = walked.map(({ id }) => id as number);
      expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
      expect(new Set(numbers).size).toBe(5);
    }
    for (let n = 0; n < 4; n++) await call(r.targets.update, dialect, { params: { targetId }, body: { description: `${n}` } });
    const query = { q: `action==targets.update;entityid==${targetId}` };
    const { content: entries } = await eventually(async () => {
      const found = await read(r.audit.list, { query });
      return found.total === 4 && found;
    });
    expect((await walk(r.audit.list, { query })).map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
  });

  it("console M02 lists of sets, modules, tags, filters, rollouts, groups, steps and users are counted as asked, and walked", async () => {
    const own = unique("own");
    await build.targets(...[0, 1, 2].map((n) => ({ controllerId: `${own}-${n}` })));
    const { id: rolloutId } = await rollouts.running(own, { amountGroups: 3 });
    await rollouts.groupsBecome(rolloutId, "running", "scheduled", "scheduled");
    for (let n = 0; n < 3; n++) {
      await build.set();
      await tags.targetTag();
      await call(r.targetFilters.create, dialect, { body: { name: unique("f"), query: "name==nobody" } });
    }
    const lists: [Route, CallOptions][] = [
      ...[r.softwareModules.list, r.distributionSets.list, r.targetTags.list, r.targetFilters.list].map((route): [Route, CallOptions] => [
        route,
        {},
      ]),
      ...[r.rollouts.listGroups, r.rollouts.timeline].map((route): [Route, CallOptions] => [route, { params: { rolloutId } }]),
      ...[r.rollouts.list, r.users.list, r.softwareModuleTypes.list].map((route): [Route, CallOptions] => [route, {}]),
    ];
    for (const [route, options] of lists) {
      const counted = async (total: string) => (await read(route, { ...options, query: { limit: 1, total } })) as Walked;
      const { total = 0 } = await read(route, { ...options, query: { limit: 1 } });
      expect(await counted("none"), route.id).not.toHaveProperty("total");
      expect(await counted("atMost:1")).toMatchObject(total > 1 ? { total: 1, totalRelation: "gte" } : { total, totalRelation: "eq" });
      const seen = (await walk(route, options)).map((row) => row["sequence"] ?? row["id"]);
      expect(new Set(seen).size, route.id).toBe(seen.length);
      expect(seen.length, route.id).toBeGreaterThanOrEqual(total);
    }
  });
});
