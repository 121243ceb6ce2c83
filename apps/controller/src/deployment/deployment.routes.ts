import { routeTable } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { deviceOf } from "../device.ts";
import { type DeploymentDeps, readDeployment } from "./deployment.ts";

/** Serves E2 and E7, deployments and the installed action (spec 000 §2.4, §4.1, §4.2). The query parameter `c` is never read. */
export function deploymentRoutes(mount: Mount, deps: DeploymentDeps): void {
  mount(routeTable.device.getDeployment, async (ctx) => ({
    body: await readDeployment(deps, {
      device: deviceOf(ctx),
      resource: "deployment",
      actionId: ctx.params.actionId,
      history: ctx.query.actionHistory,
    }),
  }));
  mount(routeTable.device.installedBase, async (ctx) => ({
    body: await readDeployment(deps, {
      device: deviceOf(ctx),
      resource: "installed",
      actionId: ctx.params.actionId,
      history: ctx.query.actionHistory,
    }),
  }));
}
