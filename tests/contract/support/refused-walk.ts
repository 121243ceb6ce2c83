import type { Route, Surface } from "@harrier/contracts";
import { expect } from "vitest";
import { type CallOptions, call } from "./call.ts";
import { unchangedBy } from "./dump.ts";
import type { ValidRequest } from "./walk.ts";
import type { World } from "./world.ts";

/** Whose data a walk is about, and the requests that its administrator makes of them. */
export interface Walked {
  world: World;
  requests: Record<string, ValidRequest>;
}

interface Deviations {
  /** Tables that the attempt may change all the same. */
  changes?: readonly string[] | undefined;
  /** The attempt uses the request up: a new one shows that the route still works. */
  again?: boolean;
}

/**
 * One step of every walk over the route table (of another tenant, without permission, restricted to target types): the route succeeds as the
 * administrator on data that are there; the attempt leaves a dump of all schemas as it was; and its very request was good.
 */
export async function refusedWalk(
  { world, requests }: Walked,
  route: Route,
  surface: Surface,
  attempt: (options: CallOptions) => Promise<void>,
  { changes = [], again = false }: Deviations = {},
): Promise<void> {
  const request = async () => (requests[route.id] as ValidRequest)();
  await succeeds(route, surface, await request());
  const options = await request();
  await unchangedBy(world, route.id, options, () => attempt(options), changes);
  await succeeds(route, surface, again ? await request() : options);
}

/** The request is good, and the data are there. */
async function succeeds(route: Route, surface: Surface, options: CallOptions): Promise<void> {
  const { status, text } = await call(route, surface, options);
  expect(status).toBe(route.success[surface]);
  if (route.method === "GET") expect(text).not.toMatch(/^$|"total":0|^\[\]$/);
}
