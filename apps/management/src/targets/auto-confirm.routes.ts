import { autoConfirm } from "@harrier/contracts";
import type { Database } from "@harrier/db";
import type { Client } from "@harrier/rpc";
import type { Mount } from "@harrier/service";
import { autoConfirmJson } from "./auto-confirm.json.ts";
import { activateAutoConfirm, deactivateAutoConfirm, getAutoConfirm } from "./auto-confirm.ts";

interface Deps {
  db: Database;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "activateAutoConfirm" | "deactivateAutoConfirm">;
}

/** Serves the auto-confirmation of targets (spec 001 §4.2): it is read from controller's view and changed by controller. */
export function mountAutoConfirm(mount: Mount, deps: Deps): void {
  mount(autoConfirm.autoConfirm, async (ctx) => {
    const { targetId } = ctx.params;
    return { body: autoConfirmJson(ctx, targetId, await getAutoConfirm(deps, ctx.identity, targetId)) };
  });
  mount(autoConfirm.activateAutoConfirm, async (ctx) =>
    activateAutoConfirm(deps, ctx, { controllerId: ctx.params.targetId, activation: ctx.body }),
  );
  mount(autoConfirm.deactivateAutoConfirm, async (ctx) => deactivateAutoConfirm(deps, ctx, ctx.params.targetId));
}
