import { routeTable } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { type DeploymentDeps, readConfirmation } from "../deployment/deployment.ts";
import { deviceOf } from "../device.ts";
import { firstContactOf } from "../poll/first-contact.ts";
import { type AutoConfirmDeps, activateAutoConfirm, deactivateAutoConfirm } from "./auto-confirm.ts";
import { type ConfirmDeps, confirm } from "./confirm.ts";
import { type ConfirmationBaseDeps, confirmationBase } from "./confirmation-base.ts";

export type ConfirmationDeps = ConfirmationBaseDeps & AutoConfirmDeps & ConfirmDeps & DeploymentDeps;

/** Serves E9 to E13, confirmation of actions (spec 000 §4.2). The literal paths come before the one that would take them for an id. */
export function confirmationRoutes(mount: Mount, deps: ConfirmationDeps): void {
  mount(routeTable.device.confirmationBase, async (ctx) => ({ body: await confirmationBase(deps, firstContactOf(ctx)) }));
  mount(routeTable.device.activateAutoConfirm, (ctx) => activateAutoConfirm(deps, deviceOf(ctx), ctx.body));
  mount(routeTable.device.deactivateAutoConfirm, (ctx) => deactivateAutoConfirm(deps, deviceOf(ctx)));
  mount(routeTable.device.getConfirmation, async (ctx) => ({
    body: await readConfirmation(deps, { device: deviceOf(ctx), actionId: ctx.params.actionId, history: ctx.query.actionHistory }),
  }));
  mount(routeTable.device.confirmationFeedback, (ctx) =>
    confirm(deps, { device: deviceOf(ctx), actionId: ctx.params.actionId, feedback: ctx.body }),
  );
}
