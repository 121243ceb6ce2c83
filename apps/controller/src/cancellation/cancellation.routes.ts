import { routeTable } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { deviceOf } from "../device.ts";
import { type RetrieveDeps, retrieve } from "../retrieval/retrieve.ts";

/** Serves E4, a cancellation that the device has to answer (spec 000 §2.3). Both ids are the same text. */
export function cancellationRoutes(mount: Mount, deps: RetrieveDeps): void {
  mount(routeTable.device.getCancel, async (ctx) => {
    const { actionId } = ctx.params;
    await retrieve(deps, { device: deviceOf(ctx), resource: "cancel", actionId });
    return { body: { id: String(actionId), cancelAction: { stopId: String(actionId) } } };
  });
}
