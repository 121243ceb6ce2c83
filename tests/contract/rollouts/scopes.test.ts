import { type RolloutView, routeTable as r, routes } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { accessBuilder, type SignedUp } from "../support/access.ts";
import { ask, call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";

const permissions = [
  "READ_ROLLOUT",
  "CREATE_ROLLOUT",
  "UPDATE_ROLLOUT",
  "DELETE_ROLLOUT",
  "HANDLE_ROLLOUT",
  "APPROVE_ROLLOUT",
  "READ_REPOSITORY",
];
const ofOne = routes.filter(({ id, path }) => id.startsWith("rollouts.") && path.includes(":rolloutId"));

describe.each(dialects)("rollouts and grants that are restricted to target types, %s", (dialect) => {
  const { user } = accessBuilder(dialect);
  const { fleet, ready, groups, get } = rolloutBuilder(dialect);
  let rollout: RolloutView;
  let groupId: number;
  let restricted: SignedUp;
  beforeAll(async () => {
    // Its targets have no type, so they are in no user's restriction.
    rollout = await ready((await fleet(2)).prefix);
    groupId = (await groups(rollout.id))[0]?.id ?? 0;
    const ofTargets = ["READ_TARGET", "UPDATE_TARGET"].map((permission) => ({ permission, targetTypeScopes: [] }));
    restricted = await user([...permissions, ...ofTargets]);
  });

  it("rollouts 2 a rollout that reaches further than the user is in no list", async () => {
    const { auth } = restricted;
    expect((await call<Page<unknown>>(r.rollouts.list, dialect, { auth })).json).toEqual({ content: [], total: 0, size: 0 });
    const q = `id==${rollout.id}`;
    expect((await call<Page<unknown>>(r.rollouts.list, dialect, { query: { q }, auth })).json.total).toBe(0);
    expect((await call<Page<unknown>>(r.rollouts.list, dialect, { query: { q } })).json.total).toBe(1);
  });

  it.each(ofOne.map((route) => [route.id, route] as const))("rollouts 2 %s of it is 404, and nothing happens", async (_id, route) => {
    const params = { rolloutId: rollout.id, groupId };
    const body = route.body === undefined ? {} : { body: { name: "another name" } };
    await refused(route, dialect, { params, ...body, auth: restricted.auth }, [404]);
    expect(await get(rollout.id)).toEqual(rollout);
  });

  it("rollouts 2 a user who sees it and may not change all of it is denied", async () => {
    const { auth } = await user([...permissions, "READ_TARGET", { permission: "UPDATE_TARGET", targetTypeScopes: [] }]);
    const options = { params: { rolloutId: rollout.id }, auth };
    expect((await ask(r.rollouts.get, dialect, options)).status).toBe(200);
    for (const route of [r.rollouts.start, r.rollouts.pause, r.rollouts.resume, r.rollouts.stop, r.rollouts.triggerNextGroup])
      await refused(route, dialect, options, [403, "insufficientPermission"]);
    expect((await get(rollout.id)).status).toBe("ready");
  });
});
