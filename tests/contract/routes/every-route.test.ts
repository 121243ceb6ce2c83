import { isConfidential, routes } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { call, dialects, succeeded } from "../support/call.ts";
import { routesOn, type ValidRequest, validRequests } from "../support/walk.ts";
import { createWorld, type World } from "../support/world.ts";

/** The positive control: each route of the table does its work, on data that is there. */
describe.each(dialects)("every route, %s", (dialect) => {
  let world: World;
  let requests: Record<string, ValidRequest>;
  beforeAll(async () => {
    world = await createWorld(dialect, "action.cleanup.onQuotaHit.percent");
    requests = validRequests(world);
  });

  it("has a request here", () => {
    expect(Object.keys(requests).sort()).toEqual(routes.map(({ id }) => id).sort());
  });

  it.each(routesOn(dialect))("%s answers a success as the table says", async (id, route, surface) => {
    const { status, text, headers } = await call(route, surface, await (requests[id] as ValidRequest)());
    expect(status).toBe(route.success[surface]);
    // what lets somebody in is kept by no cache on the way
    if (isConfidential(route) && text !== "") expect(headers["cache-control"]).toBe("no-store");
    if (/"(securityToken|apiKey|clientSecret|password)":/.test(text)) expect(headers["cache-control"]).toBe("no-store");
    // nothing that holds for an empty answer only
    if (route.method === "GET") expect(text).not.toMatch(/^$|"total":0/);
  });
});

it("all of them have been answered with a success", () => {
  expect([...succeeded].sort()).toEqual(routes.map(({ id }) => id).sort());
});
