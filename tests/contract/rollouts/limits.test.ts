import { type ActionView, routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { call, type Dialect, dialects } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import type { Page } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";
import { failure, proof, success, watchedBuilder } from "../support/watched.ts";

// Time limits and silence (contract beyond.md §2), and what becomes of claims that nothing follows (§1). The least limit is a minute, so everything that
// has to wait for one begins before the first test, in both dialects, and waits once.

const flow = "user.confirmation.flow.enabled";
const limits = (more: object = {}) => ({ limits: { notFetchedSeconds: 60, ...more } });
/** A daily window, two hours long, that begins or began so many hours from now. */
const windowFrom = (hours: number) => {
  const start = new Date(Date.now() + hours * 3_600_000);
  return {
    schedule: `${start.getUTCSeconds()} ${start.getUTCMinutes()} ${start.getUTCHours()} ? * *`,
    duration: "02:00:00",
    timezone: "+00:00",
  };
};
const proceeding = report("proceeding");

/** What begins before all tests, in one dialect. */
function sceneOf(dialect: Dialect) {
  const watched = watchedBuilder(dialect);
  const { rollouts, build, claimed, view } = watched;
  const assigned = (safety: object, item: object = {}) => build.deployment({ safety, ...item });
  const rollout = async (count: number, safety: object, more: object = {}) => {
    const from = await watched.eventsFromNow();
    const { prefix, ids } = await rollouts.fleet(count);
    const errors = { errorCondition: { expression: "0" }, errorAction: { action: "PAUSE" } };
    const { id } = await rollouts.running(prefix, { ...errors, safety, ...more });
    await rollouts.groupsBecome(id, "running", ...("amountGroups" in more ? ["scheduled"] : []));
    return { id, ids, from, first: ids[0] as string, second: ids[1] as string };
  };
  /** Assigns until controller has heard whether the confirmation flow is on. */
  const assignedOnce = (state: string, safety: object) =>
    eventually(async () => {
      const made = await assigned(safety);
      return (await view.state(made.controllerId, made.actionId)).state === state && made;
    });
  const begin = async () => {
    await call(r.configs.put, dialect, { params: { key: flow }, body: { value: true } });
    const waiting = await assignedOnce("wait_for_confirmation", limits());
    await call(r.configs.put, dialect, { params: { key: flow }, body: { value: false } });
    await assignedOnce("running", limits());
    const inWindow = async (hours: number) => {
      const made = await assigned({ limits: { installingSeconds: 60 } }, { maintenanceWindow: windowFrom(hours) });
      await device(made.controllerId).feedback(made.actionId, proceeding);
      return made;
    };
    const [windowed, behind, within] = [await inWindow(6), await inWindow(-3), await inWindow(-1)];
    const lenient = { errorCondition: { expression: "100" }, errorAction: { action: "PAUSE" } };
    const [stops, shown, open, fails, replaced] = await Promise.all([
      rollout(4, limits(), { amountGroups: 2 }),
      rollout(2, limits({ count: "none" })),
      rollout(4, limits(), { ...lenient, amountGroups: 2, successCondition: { expression: "50" } }),
      rollout(1, limits(), lenient),
      rollout(1, limits(), lenient),
    ]);
    // One of each speaks before it is too late.
    for (const { id, second } of [stops, shown]) await device(second).deployment((await rollouts.actionOf(second, id)).id);
    await device(open.first).feedback((await rollouts.actionOf(open.first, open.id)).id, success);
    const [succeeds, proves, gone, expired, accepted, unheard] = await Promise.all([
      assigned(limits()),
      assigned({ ...limits(), ...proof() }),
      assigned(limits({ giveUpSeconds: 62 })),
      claimed({ proof: { graceSeconds: 0, withinSeconds: 60 } }),
      claimed({ proof: { graceSeconds: 0, withinSeconds: 60, onExpiry: "success" } }),
      claimed({ proof: { require: "alive", graceSeconds: 0, withinSeconds: 60 } }),
    ]);
    const lasting = await claimed({ proof: { require: "alive", graceSeconds: 0, stable: { polls: 1, minutes: 1 } } });
    await device(lasting.controllerId).poll();
    const soft = await assigned(limits(), { type: "soft" });
    const timed = await assigned(limits(), { type: "timeforced", forcetime: Date.now() + 3_600_000 });
    return {
      ...{ waiting, windowed, behind, within, stops, shown, open, fails, replaced, succeeds, proves, gone, expired, accepted },
      ...{ unheard, lasting, soft, timed },
    };
  };
  return { ...watched, assigned, begin };
}
const scenes = { spec: sceneOf("spec"), rest: sceneOf("rest") };

describe("limits", () => {
  inOwnTenant();
  const begun = new Map<Dialect, Awaited<ReturnType<ReturnType<typeof sceneOf>["begin"]>>>();
  beforeAll(async () => {
    for (const dialect of dialects) begun.set(dialect, await scenes[dialect].begin());
  });

  describe.each(dialects)("of stages, %s", (dialect) => {
    const { rollouts, build, view, assigned, action, safety, safetyBecomes, counts, watchEvents } = scenes[dialect];
    const { actionOf, become, groups, step } = rollouts;
    const scene = () => begun.get(dialect) as NonNullable<ReturnType<typeof begun.get>>;
    type Of = { controllerId: string; actionId: number };
    const silent = ({ controllerId, actionId }: Of) => safetyBecomes(controllerId, actionId, (seen) => seen.silentSince !== undefined);
    const lastText = async ({ controllerId, actionId }: Of) => (await view.history(controllerId, actionId))[0]?.messages?.[0];

    it("beyond 2.1, 2.2 who does not fetch the update in time stops the rollout, and counts again when it does", async () => {
      const { id, ids, first, second, from } = scene().stops;
      await counts(id, { running: 2, scheduled: 2 }, { silent: 1 });
      await become(id, "paused");
      const one = { controllerId: first, actionId: (await actionOf(first, id)).id };
      const seen = await silent(one);
      expect(seen.stage).toBe("notFetched");
      expect((await action(first, one.actionId)).active).toBe(true);
      expect(await lastText(one)).toBe("Update Server: Nothing heard for 1 min while the update was not fetched.");
      const listed = async (q: string) => (await call<Page<ActionView>>(r.actions.list, dialect, { query: { q } })).json.content;
      expect((await listed(`silent==true;rollout.id==${id}`)).map((action) => action.id)).toEqual([one.actionId]);
      expect((await listed(`silent==false;rollout.id==${id}`)).map((action) => action.id)).not.toContain(one.actionId);
      await device(first).deployment(one.actionId);
      const back = await safety(first, one.actionId);
      expect(back?.stage).toBe("downloading");
      expect(back).not.toHaveProperty("silentSince");
      await counts(id, { running: 2, scheduled: 2 });
      const told = await watchEvents(from, one, 2);
      expect(told.map(({ kind, safety: says }) => [kind, (says as { silent: boolean }).silent])).toEqual([
        ["silence", true],
        ["silence", false],
      ]);
      await step("resume", id);
      for (const of of [first, second]) await device(of).feedback((await actionOf(of, id)).id, success);
      await counts(id, { running: 2, finished: 2 });
      for (const of of ids.slice(2)) await device(of).feedback((await actionOf(of, id)).id, success);
      await become(id, "finished");
      await counts(id, { finished: 4 });
    });

    it("beyond 2.3, 2.4, 2.18 the server's clock runs from the first progress, whatever follows and whatever time the device has", async () => {
      const of = await assigned({ limits: { downloadingSeconds: 60, installingSeconds: 3_600 } });
      const on = device(of.controllerId);
      await on.deployment(of.actionId);
      expect((await safety(of.controllerId, of.actionId))?.stage).toBe("downloading");
      const asked = Date.now();
      await on.feedback(of.actionId, { ...proceeding, time: "20390101T000000", timestamp: 1 });
      const seen = await safety(of.controllerId, of.actionId);
      expect(seen?.stage).toBe("installing");
      expect((seen?.dueAt as number) - (seen?.since as number)).toBe(3_600_000);
      expect(Math.abs((seen?.since as number) - asked)).toBeLessThan(600_000);
      for (let n = 0; n < 100; n += 1) await on.feedback(of.actionId, { ...proceeding, timestamp: 4_000_000_000_000 + n });
      expect(await safety(of.controllerId, of.actionId)).toEqual(seen);
    });

    it("beyond 2.5, 2.6 a poll leaves it silent, its success counts", async () => {
      const { succeeds, proves } = scene();
      await silent(succeeds);
      const polled = async () => (await view.target(succeeds.controllerId)).lastControllerRequestAt ?? 0;
      const before = await polled();
      await device(succeeds.controllerId).poll();
      await eventually(async () => (await polled()) > before);
      expect((await safety(succeeds.controllerId, succeeds.actionId))?.silentSince).toBeGreaterThan(0);
      await device(succeeds.controllerId).feedback(succeeds.actionId, success);
      expect(await view.standing(succeeds.controllerId)).toMatchObject({ updateStatus: "in_sync", installed: succeeds.setId });
      await silent(proves);
      await device(proves.controllerId).feedback(proves.actionId, success);
      const claim = await safety(proves.controllerId, proves.actionId);
      expect(claim).toMatchObject({ stage: "rebooting", proof: { state: "proving" } });
      expect(claim).not.toHaveProperty("silentSince");
    });

    it("beyond 2.7 its failure counts, once", async () => {
      const { id, first } = scene().fails;
      await counts(id, { running: 1 }, { silent: 1 });
      await device(first).feedback((await actionOf(first, id)).id, failure(7));
      await counts(id, { error: 1 });
    });

    it("beyond 2.8 where the policy only shows them, silent ones stop nothing", async () => {
      const { id, second } = scene().shown;
      await counts(id, { running: 2 }, { silent: 1 });
      await device(second).feedback((await actionOf(second, id)).id, success);
      // The group is judged when it ends, and it ends without the silent one.
      await become(id, "finished");
      await counts(id, { running: 1, finished: 1 }, { silent: 1 });
    });

    it("beyond 2.9, 2.17 silent ones hold no group open, and count when they come back after its end", async () => {
      const { id, ids, first } = scene().open;
      await eventually(async () => (await groups(id))[0]?.status === "finished", 150_000);
      expect((await groups(id))[0]).toMatchObject({ safetyCounts: { silent: 1 }, totalTargetsPerStatus: { finished: 1, running: 1 } });
      for (const of of ids.slice(2)) await device(of).feedback((await eventually(() => actionOf(of, id))).id, success);
      await become(id, "finished");
      await counts(id, { running: 1, finished: 3 }, { silent: 1 });
      const [, late = ""] = ids;
      expect(late).not.toBe(first);
      await device(late).feedback((await actionOf(late, id)).id, success);
      const seen = await counts(id, { finished: 4 });
      expect(seen.status).toBe("finished");
    });

    it("beyond 2.10 who is given up is offered nothing, and speaks too late", async () => {
      const { gone } = scene();
      const ended = await safetyBecomes(gone.controllerId, gone.actionId, ({ reason }) => reason !== undefined);
      expect(ended).toEqual({ attempt: 1, reason: "timeout" });
      expect((await view.state(gone.controllerId, gone.actionId)).state).toBe("error");
      expect((await view.target(gone.controllerId)).updateStatus).toBe("error");
      expect(await device(gone.controllerId).linkNames()).not.toContain("deploymentBase");
      await device(gone.controllerId).feedbackRefused(gone.actionId, success, [410]);
    });

    it("beyond 2.11 who waits for its confirmation has no clock before it", async () => {
      const { waiting, timed } = scene();
      await silent(timed); // it began later, with the same limit
      const before = await safety(waiting.controllerId, waiting.actionId);
      expect(before ?? {}).not.toHaveProperty("silentSince");
      expect(before ?? {}).not.toHaveProperty("dueAt");
      await device(waiting.controllerId).answer(waiting.actionId, { confirmation: "confirmed" });
      const after = await safety(waiting.controllerId, waiting.actionId);
      expect(after?.stage).toBe("notFetched");
      expect((after?.dueAt as number) - (after?.since as number)).toBe(60_000);
    });

    it("beyond 2.12 no clock runs while it is asked to cancel; if it refuses, the installation begins anew", async () => {
      const of = await assigned({ limits: { notFetchedSeconds: 60, installingSeconds: 3_600 } });
      await build.cancel(of.controllerId, of.actionId);
      const asked = (await safety(of.controllerId, of.actionId)) ?? { attempt: 1 };
      expect(asked).not.toHaveProperty("dueAt");
      await device(of.controllerId).cancelFeedback(of.actionId, report("rejected"));
      const seen = await safety(of.controllerId, of.actionId);
      expect(seen?.stage).toBe("installing");
      expect((seen?.dueAt as number) - (seen?.since as number)).toBe(3_600_000);
    });

    it("beyond 2.13 in its maintenance window an installation is late, before it and behind it none is", async () => {
      const { windowed, behind, within, timed } = scene();
      await silent(timed); // it began later, with the same limit
      for (const { controllerId, actionId } of [windowed, behind]) {
        const seen = await safety(controllerId, actionId);
        expect(seen?.stage).toBe("installing");
        expect(seen).not.toHaveProperty("silentSince");
      }
      expect((await silent(within)).stage).toBe("installing");
    });

    it("beyond 1.9 a device that must be alive for a minute proves nothing before it is over", async () => {
      const { controllerId, actionId, on } = scene().lasting;
      await on.poll();
      const ended = await safetyBecomes(controllerId, actionId, ({ proof: of }) => of?.state === "proven");
      expect(ended).toEqual({ attempt: 1, proof: { state: "proven", by: "alive" } });
      const [proven, claim] = await view.history(controllerId, actionId);
      expect((proven?.reportedAt as number) - (claim?.reportedAt as number)).toBeGreaterThanOrEqual(60_000);
    });

    it("beyond 2.14 soft and timeforced ones are silent as forced ones are", async () => {
      const { soft, timed } = scene();
      for (const one of [soft, timed]) expect((await silent(one)).stage).toBe("notFetched");
    });

    it("beyond 2.15 superseded while it is silent, it ends as cancelled, and nothing is awaited", async () => {
      const { id, first } = scene().replaced;
      await counts(id, { running: 1 }, { silent: 1 });
      const { id: actionId } = await actionOf(first, id);
      await build.assign((await build.set()).id, first);
      await device(first).cancelFeedback(actionId, success);
      await counts(id, { cancelled: 1 });
      expect(await safety(first, actionId)).toEqual({ attempt: 1 });
    });

    it("beyond 1.8 a claim that nothing follows ends as the policy says", async () => {
      const { expired, accepted } = scene();
      for (const of of [expired, accepted]) {
        const ended = await safetyBecomes(of.controllerId, of.actionId, ({ proof: of }) => of?.state !== "proving");
        expect(ended).toMatchObject({ proof: { state: "unproven" }, reason: "unproven" });
      }
      expect((await view.state(expired.controllerId, expired.actionId)).state).toBe("error");
      expect((await view.target(expired.controllerId)).updateStatus).toBe("error");
      expect((await view.state(accepted.controllerId, accepted.actionId)).state).toBe("finished");
      expect((await view.target(accepted.controllerId)).updateStatus).toBe("in_sync");
    });

    it("beyond 1.10 a device that never polls again proves nothing by being alive", async () => {
      const { controllerId, actionId } = scene().unheard;
      const ended = await safetyBecomes(controllerId, actionId, ({ reason }) => reason !== undefined);
      expect(ended).toMatchObject({ proof: { state: "unproven" }, reason: "unproven" });
    });
  });
});
