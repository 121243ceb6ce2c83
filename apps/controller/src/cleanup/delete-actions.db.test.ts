import { actionStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  newTarget,
  newTargets,
  progressOf,
  runGroup,
  seedMembers,
} from "../commands.fixture.ts";
import { action, left, rollout } from "./cleanup.fixture.ts";

const { FINISHED, ERROR, CANCELED, DOWNLOADED, RUNNING } = actionStatus;
let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());

test("listed actions are deleted all or none, within the scope and in a permitted status", async () => {
  const [one = 0, other = 0] = await newTargets(fixture, 2);
  const closed = [await action(fixture, one, CANCELED), await action(fixture, other, FINISHED)];
  const open = await action(fixture, one, RUNNING, { active: true });
  const remove = (actionIds: number[], controllerId = "", principal = {}) =>
    fixture.actions.deleteActions({ controllerId, actionIds }, contextOf(principal));
  await expect(remove([...closed, 999_999])).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(remove([...closed, open])).rejects.toMatchObject({ code: "actionNotDeletable" });
  await expect(remove(closed, "", { targetTypeScopes: { UPDATE_TARGET: [7] } })).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(remove(closed, "nobody")).rejects.toMatchObject({ code: "entityNotFound" });
  fixture.stored["action.delete.allowed.statuses"] = "FINISHED";
  await expect(remove(closed)).rejects.toMatchObject({ code: "actionNotDeletable" });
  delete fixture.stored["action.delete.allowed.statuses"];
  expect([await left(fixture, one), await left(fixture, other)]).toEqual([[closed[0], open], [closed[1]]]);
  // Only actions of one target are deleted: those of another are skipped.
  expect(await remove(closed, `d${one}`)).toEqual({ removed: 1 });
  expect([await left(fixture, one), await left(fixture, other)]).toEqual([[open], [closed[1]]]);
  expect(await remove([closed[1] as number, closed[1] as number])).toEqual({ removed: 1 });
});

test("the newest actions of a target stay, and so do all that may not be deleted", async () => {
  const target = await newTarget(fixture);
  const ids: number[] = [];
  for (const status of [RUNNING, CANCELED, DOWNLOADED, ERROR, FINISHED, CANCELED])
    ids.push(await action(fixture, target, status, { active: status === RUNNING }));
  const keep = (keepLast: number) => fixture.actions.deleteActions({ controllerId: `d${target}`, actionIds: [], keepLast }, contextOf());
  expect(await keep(2)).toEqual({ removed: 2 });
  expect(await left(fixture, target)).toEqual([ids[0], ids[2], ids[4], ids[5]]);
  expect(await keep(0)).toEqual({ removed: 2 });
  expect(await left(fixture, target)).toEqual([ids[0], ids[2]]);
});

test("an action that is deleted out of a running rollout is subtracted from its counts", async () => {
  const [a = 0, b = 0] = await newTargets(fixture, 2);
  await rollout(fixture, 41, "running");
  await seedMembers(fixture, { rolloutId: 41, groupId: 1 }, [a, b]);
  await runGroup(fixture, chunkOf(41));
  const [actionId = 0] = await left(fixture, a);
  for (const force of [false, true]) await fixture.actions.cancelAction({ controllerId: `d${a}`, actionId, force }, contextOf());
  expect(await progressOf(fixture, 41)).toEqual([0, 1, 0, 0, 1]);
  await fixture.actions.deleteActions({ controllerId: "", actionIds: [actionId] }, contextOf());
  expect(await progressOf(fixture, 41)).toEqual([0, 1, 0, 0, 0]);
});
