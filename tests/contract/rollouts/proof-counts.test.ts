import { type ActionView, routeTable as r } from "@harrier/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ask, dialects } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { eventually } from "../support/wait.ts";
import { failure, proof, success, watchedBuilder } from "../support/watched.ts";

// Whatever happens to watched actions, the counts of their rollout are those of the actions (contract beyond.md, cases 1.28, 2.17, 3.10).

const old = { data: { sw: "the old one" } };

describe.each(dialects)("counts of watched actions, %s", (dialect) => {
  const watched = watchedBuilder(dialect);
  const { rollouts, build, view, showing, action, safety, at } = watched;
  const { running, groupsBecome, actionOf } = rollouts;
  const newest = (set: { version: string }) => ({ data: { sw: set.version } });
  const decide = (controllerId: string, actionId: number, verdict: string) => ({
    ...at(controllerId, actionId),
    body: { verdict, remark: "seen in the lab" },
  });

  it("beyond 1.28, 2.17, 3.10 whatever happens, the counts are those of the actions", { timeout: 240_000 }, async () => {
    const policy = { ...proof({ watchHours: 1 }), retry: { max: 2, delaySeconds: 0, codes: [503] }, limits: { installingSeconds: 60 } };
    const step = fc.record({
      place: fc.nat({ max: 5 }),
      what: fc.constantFrom(
        "claim",
        "claim",
        "claim",
        "new",
        "new",
        "old",
        "fail",
        "again",
        "proceed",
        "poll",
        "proven",
        "refuted",
        "retry",
        "cancel",
        "assign",
      ),
    });
    const { prefix, ids, set } = await showing(7);
    const errors = { errorCondition: { expression: "100" }, successCondition: { expression: "100" } };
    const { id } = await running(prefix, { distributionSetId: set.id, safety: policy, ...errors });
    await groupsBecome(id, "running");
    // No step is about the last one: it begins to install, and falls silent.
    const quiet = { controllerId: ids[6] as string, actionId: (await actionOf(ids[6] as string, id)).id };
    await device(quiet.controllerId).feedback(quiet.actionId, report("proceeding"));
    const other = await build.set();
    const latest = async (of: string) => (await view.actions(of, { sort: "id:DESC" })).content[0] as ActionView;
    const steps: Record<string, (of: string, actionId: number) => Promise<unknown>> = {
      claim: (of, n) => device(of).ask(r.device.deploymentFeedback, { actionId: n }, { body: success }),
      fail: (of, n) => device(of).ask(r.device.deploymentFeedback, { actionId: n }, { body: failure(42) }),
      again: (of, n) => device(of).ask(r.device.deploymentFeedback, { actionId: n }, { body: failure(503) }),
      proceed: (of, n) => device(of).ask(r.device.deploymentFeedback, { actionId: n }, { body: report("proceeding") }),
      new: (of) => device(of).configData(newest(set)),
      old: (of) => device(of).configData(old),
      poll: (of) => device(of).poll(),
      proven: (of, n) => ask(r.targets.proveAction, dialect, decide(of, n, "proven")),
      refuted: (of, n) => ask(r.targets.proveAction, dialect, decide(of, n, "refuted")),
      retry: (of, n) => ask(r.targets.retryAction, dialect, at(of, n)),
      cancel: (of, n) => ask(r.targets.cancelAction, dialect, at(of, n)),
      assign: (of) => build.assignAll(other.id, [{ id: of }]),
    };
    /** The bucket of an action, by what its own answer says. */
    const bucketOf = (one: ActionView): string => {
      const state = "detailStatus" in one ? one.detailStatus : one.status;
      const { stage, proof: proved } = one.safety ?? {};
      if (proved?.state === "proving" || stage === "retryWait") return "running";
      if (proved?.state === "void" || state === "canceled") return "cancelled";
      return state === "finished" || state === "error" ? state : "running";
    };
    const brute = async () => {
      const all = (await Promise.all(ids.map((of) => view.actions(of, { limit: 500 })))).flatMap(({ content }) => content);
      const whole = await Promise.all(all.filter(({ rollout }) => rollout === id).map(({ id: n, _links }) => action(targetOf(_links), n)));
      const counting = whole.filter((one) => one.safety?.retriedBy === undefined);
      const totals: Record<string, number> = {};
      for (const one of counting) totals[bucketOf(one)] = (totals[bucketOf(one)] ?? 0) + 1;
      const proven = counting.filter((one) => one.safety?.proof?.state === "proving").length;
      const retrying = counting.filter((one) => one.safety?.stage === "retryWait").length;
      const silent = counting.filter((one) => one.safety?.silentSince !== undefined).length;
      return [totals, { proving: proven, silent, retrying }];
    };
    /** Attempts begin, and devices fall silent, by themselves, so that both are read again until they are of one moment. */
    const agree = () =>
      eventually(async () => {
        const [wanted, { totalTargetsPerStatus, safetyCounts, totalTargets }] = [await brute(), await rollouts.get(id)];
        const filled = Object.fromEntries(Object.entries(totalTargetsPerStatus ?? {}).filter(([, n]) => n > 0));
        expect([filled, safetyCounts]).toEqual(wanted);
        expect(Object.values(filled).reduce((sum, n) => sum + n, 0)).toBe(totalTargets);
        return { silent: safetyCounts?.silent ?? 0 };
      });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 20 }), async (walk) => {
        for (const { place, what } of walk) {
          const of = ids[place] as string;
          await steps[what]?.(of, (await latest(of)).id);
        }
        await agree();
      }),
      { numRuns: 4 },
    );
    await watched.safetyBecomes(quiet.controllerId, quiet.actionId, ({ silentSince }) => silentSince !== undefined);
    const { silent } = await agree();
    expect(silent).toBeGreaterThanOrEqual(1);
    await device(quiet.controllerId).feedback(quiet.actionId, failure(42));
    await agree();
    expect(await safety(quiet.controllerId, quiet.actionId)).toEqual({ attempt: 1 });
  });
  const targetOf = (links: ActionView["_links"]): string => (links as { self: { href: string } }).self.href.split("/").at(-3) as string;
});
