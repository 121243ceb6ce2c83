import type { LeaseOptions } from "@harrier/jobs";
import { eventually } from "@harrier/testkit";
import { expect } from "vitest";
import type { FillDeps } from "../dynamic/fill.ts";
import { createFiller } from "../dynamic/filler.ts";
import { getRollout } from "../rollouts/read-rollouts.ts";
import { createEngineFixture } from "./engine.fixture.ts";

const log = { warn: () => {} };

interface Shape {
  name: string;
  status: string;
  dynamic: boolean;
  count: number | null;
  total: number;
}

/** Makes the template of dynamic groups of this size. */
export const template = (targetCount: number, nameSuffix = "-d") => ({ dynamicGroupTemplate: { nameSuffix, targetCount } });

/** Makes a dynamic rollout over the targets whose names begin with a prefix. */
export const dynamic = (prefix: string, body: Record<string, unknown> = {}) => ({
  targetFilterQuery: `name==${prefix}-*`,
  dynamic: true,
  ...body,
});

/** Answers the names of the first targets of a prefix. */
export const all = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}-${i + 1}`);

/** Makes engines and fillers over one database, and what tests look at; `stop` ends them, `drop` is for the end of the file. */
export async function createDynamicFixture() {
  const fixture = await createEngineFixture();
  const fillers: { stop(): Promise<void> }[] = [];
  function filler(options: Partial<LeaseOptions> = {}, over: Partial<FillDeps> = {}) {
    const { db } = fixture.create;
    const made = createFiller({ db, wake: () => {}, now: Date.now, ...over }, { pollMs: 50, leaseSeconds: 2, slots: 3, log, ...options });
    made.start();
    fillers.push(made);
    return made;
  }
  /** Notifies directly, because the cooldown after a scan of even a small fleet is two seconds. */
  const notify = () => fixture.sql("update rollout_engine.dynamic_leases set due_at = now(), notifications = notifications + 1");

  const shape = (id: number) =>
    fixture.sql<Shape>(
      `select name, status, dynamic, target_count as count, total_targets as total from rollout_engine.rollout_groups
        where rollout_id = $1 order by id`,
      [id],
    );
  const sizes = async (id: number) => (await shape(id)).map(({ total }) => total);
  /** Answers the names of the targets that have actions of the rollout, once for each action. */
  const served = async (id: number) =>
    (
      await fixture.sql<{ name: string }>("select controller_id as name from controller.actions where rollout_id = $1 order by target_id", [
        id,
      ])
    ).map(({ name }) => name);
  /** Waits until the groups have these sizes and every action of a running group has begun. */
  const become = (id: number, ...expected: number[]) =>
    eventually(async () => {
      const groups = await fixture.groups(id);
      expect(groups.map(({ total }) => total)).toEqual(expected);
      expect(groups.every(({ status, started }) => status !== "running" || started)).toBe(true);
      const { totalTargets, counts } = await getRollout(fixture.create, 1, id);
      const total = expected.reduce((sum, n) => sum + n, 0);
      expect([totalTargets, counts.scheduled + counts.running + counts.finished + counts.error + counts.cancelled]).toEqual([total, total]);
    }, 20_000);

  const stop = async (): Promise<void> => {
    await fixture.stopEngines();
    await Promise.all(fillers.splice(0).map((filler) => filler.stop()));
  };
  return { fixture, filler, notify, shape, sizes, served, become, stop };
}

export type DynamicFixture = Awaited<ReturnType<typeof createDynamicFixture>>;
