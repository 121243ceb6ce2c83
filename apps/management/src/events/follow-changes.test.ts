import { expect, test } from "vitest";
import { type Changes, everything, type Listener } from "./changes.ts";
import type { EventStream } from "./event-stream.ts";
import { followChanges } from "./follow-changes.ts";

/** A stream whose client reads when the test says so, and what was sent over it. */
function follow(query: { rollout?: number; target?: string } = {}, permissions = ["READ_REPOSITORY"]) {
  const ended = Promise.withResolvers<void>();
  const sent: string[][] = [];
  const waiting: (() => void)[] = [];
  const stream = {
    full: false,
    ended: ended.promise,
    end: () => ended.resolve(),
    send: (_event: string, { subjects }: { subjects: string[] }) => void sent.push(subjects),
    whenRead: (then: () => void) => void waiting.push(then),
  };
  let listener: Listener | undefined;
  const changes = {
    listen(one: Listener) {
      listener = one;
      return () => {
        listener = undefined;
      };
    },
  };
  const following = followChanges(
    { changes: changes as unknown as Changes },
    { tenantId: 1, query, identity: { permissions } },
    stream as unknown as EventStream,
  );
  return {
    sent,
    stream,
    following,
    changed: (...subjects: string[]) => listener?.changed(subjects),
    endProcess: () => listener?.ended(),
    listens: () => listener !== undefined,
    read() {
      stream.full = false;
      for (const then of waiting.splice(0)) then();
    },
  };
}

test.each([
  [{}, ["rollouts/1", "targets/a", "targets", everything], ["rollouts/1", "targets/a", "targets", everything]],
  [{ rollout: 1 }, ["rollouts/1", "rollouts/2", "targets/a", "targets", everything], ["rollouts/1", everything]],
  [{ target: "a" }, ["rollouts/1", "targets/a", "targets/b", "targets", everything], ["targets/a", "targets", everything]],
  [{ rollout: 2, target: "b" }, ["rollouts/1", "rollouts/2", "targets/a", "targets/b"], ["rollouts/2", "targets/b"]],
])("the filter %j chooses among the subjects", (query, changed, expected) => {
  const all = follow(query);
  all.changed(...changed);
  expect(all.sent).toEqual([expected]);
});

test("nothing is sent where the filter leaves nothing", () => {
  const all = follow({ rollout: 1 });
  all.changed("rollouts/2");
  expect(all.sent).toEqual([]);
});

test("what a slow client misses becomes one change of everything", () => {
  const all = follow();
  all.changed("targets/a");
  all.stream.full = true;
  all.changed("targets/b");
  all.changed("targets/c");
  expect(all.sent).toEqual([["targets/a"]]);
  all.read();
  expect(all.sent.splice(0)).toEqual([["targets/a"], [everything]]);
  all.stream.full = true;
  all.changed("targets/d");
  all.read();
  expect(all.sent).toEqual([[everything]]);
});

test("it listens until the stream ends, and ends the stream with the process", async () => {
  const all = follow();
  expect(all.listens()).toBe(true);
  all.endProcess();
  await all.following;
  expect(all.listens()).toBe(false);
});

test("a client that may not read sets and modules is told of none, not even their ids", () => {
  const all = follow({}, ["READ_TARGET", "READ_ROLLOUT"]);
  all.changed("distributionsets/7", "targets/a", "softwaremodules/8");
  all.changed("distributionsets/9");
  all.changed(everything);
  expect(all.sent).toEqual([["targets/a"], [everything]]);
});
