import { type RolloutGroupInsights, type RolloutInsights, type RolloutReport, type RolloutView, routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { rolloutBuilder } from "../support/rollout.ts";

describe.each(dialects)("reports and insights of rollouts, %s", (dialect) => {
  const { user } = accessBuilder(dialect);
  const { fleet, running, groups, groupsBecome, actionOf } = rolloutBuilder(dialect);
  let rollout: RolloutView;
  let ids: string[];
  let groupIds: number[];

  beforeAll(async () => {
    const made = await fleet(6);
    ids = made.ids;
    rollout = await running(made.prefix, { amountGroups: 2, errorCondition: { expression: "100" } });
    await groupsBecome(rollout.id, "running", "scheduled");
    groupIds = (await groups(rollout.id)).map(({ id }) => id);
    const says = async (n: number, finished: "success" | "failure" | "none", code?: number) => {
      const id = ids[n] as string;
      const status = finished === "none" ? "proceeding" : "closed";
      await device(id).feedback((await actionOf(id, rollout.id)).id, report(status, finished, code === undefined ? {} : { code }));
    };
    await says(0, "failure", -7);
    await says(1, "failure");
    await says(2, "none", 200);
  });
  const one = (query: CallOptions["query"] = {}): CallOptions => ({ params: { rolloutId: rollout.id }, query });
  const ofGroup = (n: number, query: CallOptions["query"] = {}): CallOptions => ({
    params: { rolloutId: rollout.id, groupId: groupIds[n] as number },
    query,
  });
  const head = () => ({ name: rollout.name, id: rollout.id, totalTargets: 6 });
  const groupHead = (n: number) => ({ groupName: `group-${n + 1}`, groupId: groupIds[n], totalTargets: 3 });

  it("rollouts 2 insights count the targets of each group by status and code", async () => {
    const counts = [{ error: { "-7": 1, none: 1 }, running: { "200": 1 } }, { scheduled: { none: 3 } }];
    const groupInsights = counts.map((targetsPerStatusAndCode, n) => ({ ...groupHead(n), targetsPerStatusAndCode }));
    expect((await call<RolloutInsights>(r.rollouts.insights, dialect, one())).json).toEqual({ ...head(), groupInsights });
    expect((await call<RolloutGroupInsights>(r.rollouts.groupInsights, dialect, ofGroup(0))).json).toEqual(groupInsights[0]);
  });

  it("rollouts 2 a report lists the targets themselves", async () => {
    const [a, b, c, ...others] = ids;
    const lists = [{ error: { "-7": [a], none: [b] }, running: { "200": [c] } }, { scheduled: { none: others } }];
    const groupReports = lists.map((targetsPerStatus, n) => ({ ...groupHead(n), targetsPerStatus }));
    expect((await call<RolloutReport>(r.rollouts.report, dialect, one())).json).toEqual({ ...head(), groupReports });
    expect((await call(r.rollouts.groupReport, dialect, ofGroup(1))).json).toEqual(groupReports[1]);
  });

  it("rollouts 2 status and code select, together and in any case; what selects nothing leaves empty groups", async () => {
    const counted = async (query: CallOptions["query"]) =>
      (await call<RolloutInsights>(r.rollouts.insights, dialect, one(query))).json.groupInsights.map(
        (group) => group.targetsPerStatusAndCode,
      );
    expect(await counted({ status: "ERROR" })).toEqual([{ error: { "-7": 1, none: 1 } }, {}]);
    expect(await counted({ status: "error, scheduled", code: "none" })).toEqual([{ error: { none: 1 } }, { scheduled: { none: 3 } }]);
    expect(await counted({ code: "-7,200" })).toEqual([{ error: { "-7": 1 }, running: { "200": 1 } }, {}]);
    expect(await counted({ status: "finished" })).toEqual([{}, {}]);
    expect(await counted({ code: "-2147483648,2147483647" })).toEqual([{}, {}]); // the ends of what a device may send
    expect(await counted({ status: "", code: "" })).toEqual(await counted({}));
  });

  it("rollouts 2 the same as CSV", async () => {
    const [first] = groupIds;
    const csv = async (route: typeof r.rollouts.reportCsv, options: CallOptions) => {
      const { text, headers } = await call(route, dialect, options);
      expect(headers["content-type"]).toBe("text/csv;charset=UTF-8;header=present");
      return text.split("\r\n");
    };
    const lines = await csv(r.rollouts.reportCsv, one({ status: "error" }));
    expect(lines).toEqual([
      "groupId,groupName,status,code,controllerId",
      `${first},group-1,error,-7,${ids[0]}`,
      `${first},group-1,error,none,${ids[1]}`,
      "",
    ]);
    expect(await csv(r.rollouts.groupReportCsv as unknown as typeof r.rollouts.reportCsv, ofGroup(0, { code: "-7" }))).toEqual([
      lines[0],
      lines[1],
      "",
    ]);
    expect(await csv(r.rollouts.insightsCsv, one({ code: "none" }))).toEqual([
      "groupId,groupName,status,code,targets",
      `${first},group-1,error,none,1`,
      `${groupIds[1]},group-2,scheduled,none,3`,
      "",
    ]);
    expect(await csv(r.rollouts.groupInsightsCsv as unknown as typeof r.rollouts.reportCsv, ofGroup(1, { status: "error" }))).toHaveLength(
      2,
    );
  });

  it("beyond 3 of a target that was tried again the last attempt counts alone", async () => {
    const made = await fleet(3);
    const { id } = await running(made.prefix, { errorCondition: { expression: "100" } });
    await groupsBecome(id, "running");
    const [a = "", b = "", c = ""] = made.ids;
    for (const targetId of [a, b]) {
      const failed = (await actionOf(targetId, id)).id;
      await device(targetId).feedback(failed, report("closed", "failure", { code: 503 }));
      if (targetId === a) await call(r.targets.retryAction, dialect, { params: { targetId, actionId: failed }, body: {} });
    }
    const of = { params: { rolloutId: id } };
    const [counts] = (await call<RolloutInsights>(r.rollouts.insights, dialect, of)).json.groupInsights;
    expect(counts?.targetsPerStatusAndCode).toEqual({ running: { none: 2 }, error: { "503": 1 } });
    const [lists] = (await call<RolloutReport>(r.rollouts.report, dialect, of)).json.groupReports;
    expect(lists?.targetsPerStatus).toEqual({ running: { none: [a, c] }, error: { "503": [b] } });
    const lines = (await call(r.rollouts.reportCsv, dialect, of)).text.trim().split("\r\n").slice(1);
    expect(lines.map((line) => line.split(",").at(-1))).toEqual([a, b, c]);
  });

  const wrong: [string, CallOptions["query"]][] = [
    ["an unknown status", { status: "bogus" }],
    ["one unknown status among others", { status: "error,bogus" }],
    ["a code that is no number", { code: "1.5" }],
    ["a code of more than 32 bits", { code: "3000000000" }],
    ["more codes than a request may name", { code: Array.from({ length: 101 }, (_, n) => n).join(",") }],
  ];
  it.each(wrong)("rollouts 2 %s is rejected", async (_case, query) => {
    for (const route of [r.rollouts.insights, r.rollouts.report, r.rollouts.insightsCsv, r.rollouts.reportCsv]) {
      await refused(route, dialect, one(query), [400, "repo.constraintViolation"]);
    }
  });

  it("rollouts 2 unknown rollouts and groups are not found; a group of another rollout is unknown", async () => {
    const { id } = await running((await fleet(1)).prefix);
    const foreign = (await groups(id))[0]?.id as number;
    const { report: all, reportCsv, insights, insightsCsv, groupReport, groupReportCsv, groupInsights, groupInsightsCsv } = r.rollouts;
    for (const route of [all, reportCsv, insights, insightsCsv]) {
      await refused(route, dialect, { params: { rolloutId: 2_000_000_000 } }, [404, "repo.entityNotFound"]);
    }
    for (const route of [groupReport, groupReportCsv, groupInsights, groupInsightsCsv]) {
      await refused(route, dialect, { params: { rolloutId: rollout.id, groupId: foreign } }, [404, "repo.entityNotFound"]);
    }
  });

  it("rollouts 2 a report needs READ_TARGET too, because it names targets", async () => {
    const { auth } = await user(["READ_ROLLOUT"]);
    await call(r.rollouts.insights, dialect, { ...one(), auth });
    await call(r.rollouts.insightsCsv, dialect, { ...one(), auth });
    for (const route of [r.rollouts.report, r.rollouts.reportCsv]) {
      await refused(route, dialect, { ...one(), auth }, [403, "insufficientPermission"]);
    }
  });
});
