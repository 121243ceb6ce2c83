import { page, rollouts } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { previewRollout } from "../preview/preview.ts";
import { checkReach, toDrive, toStop, toTrigger } from "./check-reach.ts";
import { type CreateDeps, createRollout } from "./create-rollout.ts";
import { getRollout, listRollouts, type ReadDeps } from "./read-rollouts.ts";
import { retryRollout } from "./retry-rollout.ts";
import { rolloutJson } from "./rollout.json.ts";
import {
  type CommandDeps,
  decideRollout,
  deleteRollout,
  pauseRollout,
  resumeRollout,
  startRollout,
  stopRollout,
  triggerNextGroup,
} from "./rollout-commands.ts";
import { changeRollout } from "./update-rollout.ts";

export type RolloutDeps = CreateDeps & CommandDeps & ReadDeps & { fault: CreateDeps["fault"] & CommandDeps["fault"] };

/** Mounts rollouts and the commands on them (spec 001 §4.6). */
export function mountRollouts(mount: Mount, deps: RolloutDeps): void {
  /** Lists rollouts (spec 001 §4.6, list). */
  mount(rollouts.list, async ({ identity, query, base }) => {
    const found = await listRollouts(deps, identity, query.soft_deleted_mode, query);
    const full = query.representation === "full";
    return {
      body: page(
        found.rows.map((row) => rolloutJson(base, row, full)),
        found,
      ),
    };
  });

  /** Creates a rollout (spec 001 §4.6, create). */
  mount(rollouts.create, async (ctx) => created(deps, ctx, await createRollout(deps, ctx.body, ctx.out())));

  /** Previews a rollout (extensions.md, rollout preview). */
  mount(rollouts.preview, async (ctx) => ({ body: await previewRollout(deps, ctx.body, ctx.out()) }));

  /** Answers a rollout (spec 001 §4.6, get). */
  mount(rollouts.get, async ({ identity, tenantId, params, base }) => {
    await checkReach(deps, identity, params.rolloutId);
    const row = await getRollout(deps, tenantId, params.rolloutId);
    return { body: rolloutJson(base, row, true), revision: row.revision };
  });

  /** Changes a rollout (spec 001 §4.6, update). */
  mount(rollouts.update, async ({ tenantId, identity, params, body, base, ifMatch }) => {
    await checkReach(deps, identity, params.rolloutId, ["UPDATE_ROLLOUT"]);
    await changeRollout(deps, identity, params.rolloutId, { ...body, ifMatch });
    return { body: rolloutJson(base, await getRollout(deps, tenantId, params.rolloutId), true) };
  });

  /** Deletes a rollout (spec 001 §4.6, delete). */
  mount(rollouts.delete, async (ctx) => {
    await checkReach(deps, ctx.identity, ctx.params.rolloutId, ["DELETE_ROLLOUT"]);
    await deleteRollout(deps, ctx.out(), ctx.params.rolloutId, ctx.ifMatch);
  });

  /** Starts a rollout (spec 001 §4.6, start). */
  mount(rollouts.start, async (ctx) => {
    await checkReach(deps, ctx.identity, ctx.params.rolloutId, toDrive);
    await startRollout(deps, ctx.out(), ctx.params.rolloutId);
  });

  /** Pauses a rollout (spec 001 §4.6, pause). */
  mount(rollouts.pause, async (ctx) => {
    await checkReach(deps, ctx.identity, ctx.params.rolloutId, toDrive);
    await pauseRollout(deps, ctx.out(), ctx.params.rolloutId);
  });

  /** Resumes a rollout (spec 001 §4.6, resume). */
  mount(rollouts.resume, async (ctx) => {
    await checkReach(deps, ctx.identity, ctx.params.rolloutId, toDrive);
    await resumeRollout(deps, ctx.out(), ctx.params.rolloutId);
  });

  for (const [row, approved] of [
    [rollouts.approve, true],
    [rollouts.deny, false],
  ] as const) {
    /** Approves or denies a rollout (spec 001 §4.6, approve and deny); the remark comes in the query or in the body. */
    mount(row, async (ctx) => {
      await checkReach(deps, ctx.identity, ctx.params.rolloutId, ["APPROVE_ROLLOUT"]);
      const remark = ctx.query.remark || ctx.body?.remark || undefined;
      await decideRollout(deps, ctx.out(), ctx.params.rolloutId, { approved, remark, ifMatch: ctx.ifMatch });
    });
  }

  /** Stops a rollout (contract rollouts.md §2, stop). */
  mount(rollouts.stop, async (ctx) => {
    await checkReach(deps, ctx.identity, ctx.params.rolloutId, toStop(ctx.identity));
    await stopRollout(deps, ctx.out(), ctx.params.rolloutId);
  });

  /** Retries a rollout (spec 001 §4.6, retry). */
  mount(rollouts.retry, async (ctx) => {
    await checkReach(deps, ctx.identity, ctx.params.rolloutId, ["CREATE_ROLLOUT"]);
    return created(deps, ctx, await retryRollout(deps, ctx.params.rolloutId, ctx.out()));
  });

  /** Triggers the next group (spec 001 §4.6, trigger next group). */
  mount(rollouts.triggerNextGroup, async (ctx) => {
    await checkReach(deps, ctx.identity, ctx.params.rolloutId, toTrigger);
    await triggerNextGroup(deps, ctx.out(), ctx.params.rolloutId);
  });
}

/** Answers a new rollout. It is read before the engine begins with it, so that the answer shows what was created. */
async function created(deps: ReadDeps & Pick<RolloutDeps, "wake">, { tenantId, base }: { tenantId: number; base: string }, id: number) {
  const row = await getRollout(deps, tenantId, id);
  deps.wake();
  return { body: rolloutJson(base, row, true) };
}
