import type { Within } from "@harrier/rpc";
import { expect, test } from "vitest";
import { commandsByTenant } from "./commands-by-tenant.ts";

type Principal = Parameters<Within>[2];
const principal = (kind: string, tenantId: number) => ({ kind, tenantId }) as Principal;
const tick = () => new Promise((resolve) => setImmediate(resolve));

test("calls for users of one tenant leave connections for those of others, and all of them for services", async () => {
  const within = commandsByTenant();
  const running: string[] = [];
  const ends: (() => void)[] = [];
  const call = (name: string, who: Principal) =>
    within(
      new AbortController().signal,
      async () => {
        running.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
      },
      who,
    );
  const all = Array.from({ length: 10 }, () => call("greedy", principal("user", 1)));
  await tick();
  expect(running).toEqual(["greedy", "greedy", "greedy"]);
  all.push(...[1, 2, 3, 4].map(() => call("other", principal("oauthClient", 2))));
  all.push(call("engine", principal("service", 1)), call("engine", principal("service", 1)));
  await tick();
  expect(running.slice(3).sort()).toEqual(["engine", "engine", "other", "other", "other"]);
  for (let n = 0; n < all.length; n += 1) {
    ends.shift()?.();
    await tick();
  }
  await Promise.all(all);
});

test("a waiting command leaves the queue with the signal of its call", async () => {
  const within = commandsByTenant();
  const ends: (() => void)[] = [];
  const hold = () => new Promise<void>((resolve) => ends.push(resolve));
  const held = [1, 2, 3].map(() => within(new AbortController().signal, hold, principal("user", 1)));
  const abort = new AbortController();
  const waiting = within(abort.signal, hold, principal("user", 1));
  abort.abort();
  await expect(waiting).rejects.toMatchObject({ code: "deadlineExceeded" });
  for (const end of ends) end();
  await Promise.all(held);
});
