import type { Route, Surface } from "@harrier/contracts";
import { expect } from "vitest";
import { type CallOptions, call } from "./call.ts";
import { unchangedBy } from "./dump.ts";
import type { Fixture } from "./tenant.fixture.ts";
import type { ValidRequest } from "./walk.ts";

/** Whose data a walk is about, and the requests that the administrator of these data makes. */
export interface Walked {
  fixture: Fixture;
  requests: Record<string, ValidRequest>;
}

interface Deviations {
  /** Tables that the denied attempt may change nevertheless. */
  changes?: readonly string[] | undefined;
  /** True if the attempt uses the request up, so that only a new one can show that the route still works. */
  again?: boolean;
}

/**
 * Does one step of every walk over the route table (as another tenant, without permission, restricted to target types). The route succeeds for the
 * administrator of existing data, the attempt leaves a dump of all schemas unchanged, and the very same request was valid.
 */
export async function refusedWalk(
  { fixture, requests }: Walked,
  route: Route,
  surface: Surface,
  attempt: (options: CallOptions) => Promise<void>,
  { changes = [], again = false }: Deviations = {},
): Promise<void> {
  const request = async () => (requests[route.id] as ValidRequest)();
  await succeeds(route, surface, await request());
  const options = await request();
  await unchangedBy(fixture, route.id, options, () => attempt(options), changes);
  await succeeds(route, surface, again ? await request() : options);
}

/** Checks that the request is valid and the data exist. */
async function succeeds(route: Route, surface: Surface, options: CallOptions): Promise<void> {
  const { status, text } = await call(route, surface, options);
  expect(status).toBe(route.success[surface]);
  if (route.method === "GET") expect(text).not.toMatch(/^$|"total":0|^\[\]$/);
}
