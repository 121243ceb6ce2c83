import { artifacts } from "@harrier/contracts";
import type { Database } from "@harrier/db";
import type { Mount } from "@harrier/service";
import { artifactJson } from "./artifact.json.ts";
import { getArtifact, listArtifacts, removeArtifact } from "./artifacts.ts";
import { linkHandlerOf } from "./handler-links.ts";

interface Deps {
  db: Database;
  wake: () => void;
}

/** Serves the rows of artifacts (spec 001 §4.4); artifact-store takes and delivers their bytes. */
export function mountArtifacts(mount: Mount, deps: Deps): void {
  mount(artifacts.list, async (ctx) => {
    const rows = await listArtifacts(deps, ctx.tenantId, ctx.params.softwareModuleId);
    const full = ctx.query.representation === "full";
    const handler = full && ctx.query.useartifacturlhandler ? await linkHandlerOf(deps, ctx.identity) : undefined;
    return { body: rows.map((row) => artifactJson(ctx, row, full && !row.moduleDeleted, handler)) };
  });

  mount(artifacts.get, async (ctx) => {
    const row = await getArtifact(deps, ctx.tenantId, { moduleId: ctx.params.softwareModuleId, id: ctx.params.artifactId });
    const handler = ctx.query.useartifacturlhandler ? await linkHandlerOf(deps, ctx.identity) : undefined;
    return { body: artifactJson(ctx, row, !row.moduleDeleted, handler) };
  });

  mount(artifacts.delete, async (ctx) =>
    removeArtifact(deps, ctx.identity, { moduleId: ctx.params.softwareModuleId, id: ctx.params.artifactId }),
  );
}
