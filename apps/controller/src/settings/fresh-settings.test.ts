import { ChangeFeed } from "@harrier/jobs";
import type { Within } from "@harrier/rpc";
import type { Mount } from "@harrier/service";
import { expect, test } from "vitest";
import { freshSettings } from "./fresh-settings.ts";

/** A feed that rests, whose next reading is awaited until `read` is called, and what was done in order. */
async function atRest() {
  const done: string[] = [];
  const clock = { ms: 0 };
  const feed = new ChangeFeed<object>({
    read: async () => ({ snapshot: "1", messages: [] }),
    heartbeat: {},
    onNeeded: () => done.push("needed"),
    now: () => clock.ms,
  });
  clock.ms = 30_000;
  await feed.read();
  const settings = {
    refresh: async () => {
      done.push("settings");
    },
  };
  return { feed, done, fresh: freshSettings(feed, settings) };
}

test("the first request after a rest is answered by settings that were read then, and the next one waits for nothing", async () => {
  const { feed, done, fresh } = await atRest();
  let handler: (request: never) => unknown = () => {};
  const mount = ((_route: unknown, given: typeof handler) => {
    handler = given;
  }) as unknown as Mount;
  fresh.mount(mount)({} as never, () => {
    done.push("answer");
    return undefined;
  });
  const answer = handler({} as never);
  expect(done).toEqual(["needed"]);
  await feed.read();
  await answer;
  expect(done).toEqual(["needed", "settings", "answer"]);
  expect(handler({} as never)).toBeUndefined();
  expect(done).toEqual(["needed", "settings", "answer", "answer"]);
});

test("the first call after a rest waits within what calls run within", async () => {
  const { feed, done, fresh } = await atRest();
  const within: Within = async (_signal, work) => {
    done.push("within");
    return work();
  };
  const call = fresh.within(within)(new AbortController().signal, async () => done.push("answer"), {} as never);
  await feed.read();
  await call;
  expect(done).toEqual(["needed", "within", "settings", "answer"]);
});

test("settings that cannot be read do not stop the request", async () => {
  const { feed } = await atRest();
  const fresh = freshSettings(feed, { refresh: () => Promise.reject(new Error("no database")) });
  const call = fresh.within((_signal, work) => work())(new AbortController().signal, async () => "answer", {} as never);
  await feed.read();
  expect(await call).toBe("answer");
});
