import { routeTable } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { deviceOf } from "../device.ts";
import { type ArtifactsDeps, listArtifacts } from "./artifacts.ts";

/** Serves E14, the artifacts of a module as a bare array (spec 000 §2.4, §4.1). */
export function artifactRoutes(mount: Mount, deps: ArtifactsDeps): void {
  mount(routeTable.device.listArtifacts, async (ctx) => ({
    body: await listArtifacts(deps, deviceOf(ctx), ctx.params.softwareModuleId),
  }));
}
