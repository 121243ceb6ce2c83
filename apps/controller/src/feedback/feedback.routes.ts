import { routeTable } from "@harrier/contracts";
import { faultPoint, type Mount } from "@harrier/service";
import { deviceOf } from "../device.ts";
import { type ReportDeps, report } from "./report.ts";

/**
 * Serves E3 and E5, feedback on deployments and cancellations (spec 000 §2.5, §4.1). The answer is 200 without a body, because some clients accept
 * nothing else.
 */
export function feedbackRoutes(mount: Mount, deps: Omit<ReportDeps, "fault">): void {
  const withFaults: ReportDeps = { ...deps, fault: faultPoint };
  mount(routeTable.device.deploymentFeedback, (ctx) =>
    report(withFaults, { device: deviceOf(ctx), channel: "deployment", actionId: ctx.params.actionId, feedback: ctx.body }),
  );
  mount(routeTable.device.cancelFeedback, (ctx) =>
    report(withFaults, { device: deviceOf(ctx), channel: "cancel", actionId: ctx.params.actionId, feedback: ctx.body }),
  );
}
