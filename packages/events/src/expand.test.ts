import { expect, test } from "vitest";
import { expand, type OutboxRow } from "./expand.ts";

const row = (over: Partial<OutboxRow>): OutboxRow => ({
  id: "7",
  txid: "900",
  topic: "action-events",
  type: "io.update.action.status_changed.v1",
  common: { tenant: "DEFAULT", distributionSet: { id: 12, name: "os", version: "2" }, rolloutId: 30, rolloutGroupId: 31 },
  items: [],
  traceparent: null,
  at: Date.UTC(2026, 0, 2),
  ...over,
});
const parse = (m: { value: string } | undefined) =>
  JSON.parse(m?.value ?? "{}") as Record<string, unknown> & { data: Record<string, unknown> };

test("each item becomes one message, keyed by target, with ids that a second expansion repeats", () => {
  const items = [
    [41, "a", 1, null, 3, true, 1, 1000, null, ["hello"], 5, 3],
    [42, "b", 2, 3, 0, false, 1, 1000, 200, null, 6, 0],
    [43, "c", 4, 3, 3, true, 1, 1000, null, [], 7, 7],
  ];
  const messages = expand("controller", row({ items }));
  expect(messages.map((m) => m.key)).toEqual(["DEFAULT/a", "DEFAULT/b", "DEFAULT/c"]);
  expect(messages.map((m) => parse(m)["id"])).toEqual(["controller-7-0", "controller-7-1", "controller-7-2"]);
  expect(messages.map((m) => parse(m)["type"])).toEqual([
    "io.update.action.created.v1",
    "io.update.action.status_changed.v1",
    "io.update.action.status_reported.v1",
  ]);
  expect(expand("controller", row({ items }))).toEqual(messages);
});

test("an action event contains everything that a consumer needs without a look-up", () => {
  const [message] = expand("controller", row({ items: [[42, "b", 2, 3, 0, false, 1, 700, 200, ["done"], 6, 0]] }));
  const event = parse(message);
  expect(event["sequence"]).toBe("2");
  expect(event["subject"]).toBe("targets/b/actions/42");
  expect(event.data).toMatchObject({
    actionId: 42,
    controllerId: "b",
    previousStatus: "running",
    status: "finished",
    active: false,
    forceType: "forced",
    weight: 700,
    code: 200,
    messages: ["done"],
    rolloutId: 30,
    distributionSet: { id: 12, name: "os", version: "2" },
  });
});

test("a report that ends a silence, or begins the wait for the next attempt, is an event about that", () => {
  const typeOf = (status: number, safety: object) =>
    parse(expand("controller", row({ items: [[42, "b", 4, 3, status, status === 3, 1, 1000, null, null, 6, status, safety]] }))[0]);
  expect(typeOf(3, { silent: false, attempt: 1 })).toMatchObject({
    type: "io.update.action.silence_changed.v1",
    data: { previousStatus: "running", status: "running", safety: { silent: false, attempt: 1 } },
  });
  expect(typeOf(1, { silent: false, attempt: 1, nextAttemptAt: 9 })["type"]).toBe("io.update.action.retry_changed.v1");
  // a claim is a change of the status, and says that it has to be proven
  expect(typeOf(0, { proof: "proving", attempt: 1 })["type"]).toBe("io.update.action.status_changed.v1");
});

test("a row's own type is used if it is none of the three that each item decides", () => {
  const [message] = expand(
    "controller",
    row({ type: "io.update.action.forced.v1", items: [[42, "b", 2, 3, 3, true, 1, 1000, null, null, 6, 3]] }),
  );
  expect(parse(message)["type"]).toBe("io.update.action.forced.v1");
});

test("rollout events are keyed by rollout and carry the trace", () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const [message] = expand(
    "rollout_engine",
    row({
      topic: "rollout-events",
      type: "io.update.rollout.status_changed.v1",
      common: { tenant: "DEFAULT", rolloutId: 30, name: "r" },
      items: [{ subject: "rollouts/30", sequence: 3, data: { status: "running" } }],
      traceparent,
    }),
  );
  expect(message?.key).toBe("DEFAULT/30");
  expect(message?.headers["traceparent"]).toBe(traceparent);
  expect(parse(message)["traceparent"]).toBe(traceparent);
});
