import { actionStatus, actionStatusNames, forceType, updateStatus } from "@harrier/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decideReport, type Situation } from "./decide-report.ts";
import { channels, endsAction, executions, results, ruleOf, targetEffects } from "./transitions.ts";
import { visibility } from "./visibility.ts";

const reports = channels.flatMap((channel) => executions.flatMap((execution) => results.map((result) => ({ channel, execution, result }))));
const limits = { entries: 1_000, messages: 50 };

const running: Situation = {
  action: {
    id: 20,
    setId: 100,
    status: actionStatus.RUNNING,
    active: true,
    forceType: forceType.soft,
    revision: 1,
    lastStatusCode: null,
    multiAssignment: false,
  },
  target: {
    updateStatus: updateStatus.pending,
    assignedSetId: 100,
    installedSetId: null,
    installedActionId: null,
    requestAttributes: false,
  },
  others: [],
};

function withAction(change: Partial<Situation["action"]>): Situation {
  return { ...running, action: { ...running.action, ...change } };
}

function decide(situation: Situation, [channel, execution, result]: [string, string, string], code: number | null = null) {
  return decideReport(situation, { channel, execution, result, code, messageCount: 1 } as never, limits);
}

test("there is a rule for every report, and its messages do not depend on the action", () => {
  for (const report of reports) {
    expect(ruleOf(report, true).texts).toEqual(ruleOf(report, false).texts);
  }
});

test("a rule ends the action exactly when it changes the target", () => {
  for (const report of reports) {
    for (const downloadOnly of [true, false]) {
      const rule = ruleOf(report, downloadOnly);
      const ends = rule.next !== "keep" && rule.next !== "runUnlessCanceling" && endsAction(actionStatus[rule.next]);
      expect(rule.effect !== "none").toBe(ends);
      // An action can always be ended, however full its history is.
      if (ends) expect(rule.entriesFree).toBe(true);
    }
  }
});

test("there are seven effects: six are those of rules, and the server alone refutes a claim", () => {
  const ofRules = new Set(reports.flatMap((report) => [true, false].map((downloadOnly) => ruleOf(report, downloadOnly).effect)));
  const others = Object.keys(targetEffects).filter((name) => !ofRules.has(name as never));
  expect(Object.keys(targetEffects)).toHaveLength(7);
  expect(others.sort()).toEqual(["claimed", "refuted"]);
});

describe("an action beside others (multi-assignment)", () => {
  const open = [
    { id: 30, setId: 300, status: actionStatus.RUNNING, active: true },
    { id: 25, setId: 200, status: actionStatus.WAIT_FOR_CONFIRMATION, active: true },
    { id: 10, setId: 150, status: actionStatus.FINISHED, active: false },
  ];
  const beside = (change: Partial<Situation["action"]> = {}, others: Situation["others"] = []): Situation => ({
    ...withAction({ multiAssignment: true, ...change }),
    others,
  });
  const done = ["deployment", "closed", "success"] as [string, string, string];

  test.each<[string, Situation, [string, string, string], Partial<Situation["target"]>]>([
    [
      "the last one open is the target's word",
      beside(),
      done,
      { assignedSetId: 100, installedSetId: 100, updateStatus: updateStatus.in_sync },
    ],
    [
      "with others open the target stays pending, for the oldest of them",
      beside({}, open),
      done,
      { assignedSetId: 200, installedSetId: 100, updateStatus: updateStatus.pending },
    ],
    [
      "one that was not assigned last, the others being done or having failed",
      { ...beside(), target: { ...running.target, assignedSetId: null, installedSetId: 300, updateStatus: updateStatus.error } },
      done,
      { assignedSetId: 100, installedSetId: 100, updateStatus: updateStatus.in_sync },
    ],
    [
      "a failure is the target's, whatever else is open",
      beside({}, open),
      ["deployment", "closed", "failure"],
      { assignedSetId: null, installedSetId: null, updateStatus: updateStatus.error },
    ],
    [
      "a download alone, with others open",
      beside({ forceType: forceType.downloadonly }, open),
      ["deployment", "downloaded", "none"],
      { assignedSetId: 200, installedSetId: null, updateStatus: updateStatus.pending },
    ],
    [
      "a download alone, with nothing else",
      beside({ forceType: forceType.downloadonly }),
      ["deployment", "downloaded", "none"],
      { assignedSetId: 100, installedSetId: null, updateStatus: updateStatus.in_sync },
    ],
    [
      "a confirmed cancellation leaves the target to the oldest of the others",
      beside({ status: actionStatus.CANCELING }, open),
      ["cancel", "closed", "success"],
      { assignedSetId: 200, installedSetId: null, updateStatus: updateStatus.pending },
    ],
  ])("%s", (_, situation, report, target) => {
    expect(decide(situation, report)).toMatchObject({ target });
  });

  test("an action alone on its target ends like any other", () => {
    for (const report of reports) {
      for (const force of [forceType.forced, forceType.downloadonly]) {
        for (const status of [actionStatus.RUNNING, actionStatus.CANCELING]) {
          const one = withAction({ status, forceType: force });
          const sent = { ...report, code: null, messageCount: 1 };
          const ended = (s: Situation) => {
            const decision = decideReport(s, sent, limits);
            return decision.outcome === "ok" && decision.changed
              ? { ...decision, action: { ...decision.action, multiAssignment: null } }
              : decision;
          };
          expect(ended({ ...one, action: { ...one.action, multiAssignment: true } })).toEqual(ended(one));
        }
      }
    }
  });
});

describe("deployment feedback", () => {
  test("closed ends the action, success and failure end it also while under way (ruling D1)", () => {
    for (const [execution, result, status] of [
      ["closed", "success", actionStatus.FINISHED],
      ["closed", "none", actionStatus.FINISHED],
      ["closed", "failure", actionStatus.ERROR],
      ["proceeding", "success", actionStatus.FINISHED],
      ["resumed", "failure", actionStatus.ERROR],
    ] as const) {
      expect(decide(running, ["deployment", execution, result])).toMatchObject({ action: { status, active: false, revision: 2 } });
    }
  });

  test("success installs the set and requests attributes; failure removes the assignment", () => {
    expect(decide(running, ["deployment", "closed", "success"])).toMatchObject({
      target: {
        assignedSetId: 100,
        installedSetId: 100,
        installedActionId: 20,
        updateStatus: updateStatus.in_sync,
        requestAttributes: true,
      },
    });
    expect(decide(running, ["deployment", "closed", "failure"])).toMatchObject({
      target: { assignedSetId: null, installedSetId: null, updateStatus: updateStatus.error, requestAttributes: false },
    });
  });

  test("an older action that ends while a newer is open leaves the target pending", () => {
    const older: Situation = {
      ...running,
      target: { ...running.target, assignedSetId: 200 },
      others: [{ id: 21, setId: 200, status: actionStatus.RUNNING, active: true }],
    };
    expect(decide(older, ["deployment", "closed", "success"])).toMatchObject({
      target: { assignedSetId: 200, installedSetId: 100, updateStatus: updateStatus.pending },
    });
  });

  test("canceled and rejected do not end it, and proceeding reports never leave canceling", () => {
    expect(decide(running, ["deployment", "canceled", "success"])).toMatchObject({
      entry: actionStatus.CANCELED,
      action: { active: true },
    });
    expect(decide(running, ["deployment", "rejected", "failure"])).toMatchObject({ entry: actionStatus.WARNING, action: { active: true } });
    const canceling = withAction({ status: actionStatus.CANCELING });
    expect(decide(canceling, ["deployment", "proceeding", "none"])).toMatchObject({ action: { status: actionStatus.CANCELING } });
    expect(decide(canceling, ["deployment", "closed", "success"])).toMatchObject({ action: { status: actionStatus.FINISHED } });
  });

  test("downloaded ends only a downloadonly action", () => {
    expect(decide(running, ["deployment", "downloaded", "success"])).toMatchObject({
      action: { status: actionStatus.RUNNING, active: true },
    });
    expect(decide(withAction({ forceType: forceType.downloadonly }), ["deployment", "downloaded", "success"])).toMatchObject({
      action: { status: actionStatus.DOWNLOADED, active: false },
      target: { assignedSetId: 100, installedSetId: null, updateStatus: updateStatus.in_sync, requestAttributes: true },
    });
  });

  test("late reports are rejected, and waiting actions take none", () => {
    for (const status of [actionStatus.FINISHED, actionStatus.ERROR, actionStatus.CANCELED, actionStatus.DOWNLOADED]) {
      expect(decide(withAction({ status, active: false }), ["deployment", "closed", "success"])).toEqual({ outcome: "closed" });
    }
    const waiting = withAction({ status: actionStatus.WAIT_FOR_CONFIRMATION });
    expect(decide(waiting, ["deployment", "proceeding", "none"])).toEqual({ outcome: "stateNotFound" });
  });

  test("the code of the report is stored, and one without a code resets it", () => {
    expect(decide(running, ["deployment", "proceeding", "none"], 42)).toMatchObject({ action: { lastStatusCode: 42 } });
    expect(decide(withAction({ lastStatusCode: 42 }), ["deployment", "proceeding", "none"])).toMatchObject({
      action: { lastStatusCode: null },
    });
  });
});

describe("cancellation feedback", () => {
  const canceling = withAction({ status: actionStatus.CANCELING });

  test("closed confirms: the target falls back to its installed set, in sync", () => {
    const installed: Situation = { ...canceling, target: { ...canceling.target, installedSetId: 50, installedActionId: 11 } };
    expect(decide(installed, ["cancel", "closed", "none"])).toMatchObject({
      action: { status: actionStatus.CANCELED, active: false },
      target: { assignedSetId: 50, updateStatus: updateStatus.in_sync },
    });
  });

  test("with another action open, its set becomes the assigned one, not yet in sync", () => {
    const two: Situation = {
      ...canceling,
      others: [
        { id: 31, setId: 300, status: actionStatus.RUNNING, active: true },
        { id: 30, setId: 250, status: actionStatus.CANCELING, active: true },
      ],
    };
    expect(decide(two, ["cancel", "closed", "success"])).toMatchObject({
      target: { assignedSetId: 250, updateStatus: updateStatus.pending },
    });
  });

  test("execution decides, not finished (ruling D2)", () => {
    expect(decide(canceling, ["cancel", "rejected", "success"])).toMatchObject({ action: { status: actionStatus.RUNNING, active: true } });
    expect(decide(canceling, ["cancel", "closed", "failure"])).toMatchObject({ action: { status: actionStatus.RUNNING, active: true } });
    expect(decide(canceling, ["cancel", "proceeding", "success"])).toMatchObject({
      action: { status: actionStatus.CANCELING, active: true },
    });
    expect(decide(canceling, ["cancel", "canceled", "success"])).toMatchObject({
      action: { status: actionStatus.CANCELING, active: true },
    });
  });

  test("a second confirmation changes nothing, and without a cancellation there is nothing to answer", () => {
    const canceled = withAction({ status: actionStatus.CANCELED, active: false });
    for (const result of results) expect(decide(canceled, ["cancel", "closed", result])).toEqual({ outcome: "ok", changed: false });
    expect(decide(running, ["cancel", "closed", "success"])).toEqual({ outcome: "notCanceling" });
  });
});

describe("properties over any sequence of reports", () => {
  const anyReport = fc.record({
    report: fc.constantFrom(...reports),
    code: fc.option(fc.integer()),
    messageCount: fc.integer({ min: 0, max: 60 }),
  });
  const anyForce = fc.constantFrom(...Object.values(forceType));

  test("a closed action is never opened again, and every accepted report is one revision", () => {
    fc.assert(
      fc.property(anyForce, fc.constantFrom(actionStatus.RUNNING, actionStatus.CANCELING), fc.array(anyReport), (force, status, steps) => {
        let model = withAction({ forceType: force, status });
        for (const { report, code, messageCount } of steps) {
          const decision = decideReport(model, { ...report, code, messageCount }, limits);
          const { action } = model;
          if (decision.outcome !== "ok" || !decision.changed) continue;
          expect(action.active).toBe(true);
          expect(decision.action.revision).toBe(action.revision + 1);
          expect(decision.action.active).toBe(!endsAction(decision.action.status));
          expect(visibility.deployment.open.concat("CANCELING", ...visibility.deployment.closed, "CANCELED")).toContain(
            actionStatusNames[decision.action.status],
          );
          model = { ...model, action: decision.action, target: decision.target };
        }
        // Whatever was reported, no closed action is pending.
        if (!model.action.active) expect(model.target.updateStatus).not.toBe(updateStatus.pending);
      }),
    );
  });
});
