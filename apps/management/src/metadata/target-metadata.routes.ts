import { page, targetMetadata as routes } from "@harrier/contracts";
import { entityNotFound } from "@harrier/errors";
import { metadataFields, sortFields } from "@harrier/fiql";
import { readPage, scopeOf } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { metadataJson } from "./metadata.json.ts";
import type { MetadataRow } from "./metadata.sql.ts";
import { revisionOfMetadata } from "./metadata.ts";
import { metadataOfTarget } from "./target-metadata.sql.ts";
import {
  changeTargetMetadata,
  createTargetMetadata,
  getTargetMetadata,
  removeTargetMetadata,
  type TargetMetadataDeps,
} from "./target-metadata.ts";

interface Deps extends TargetMetadataDeps {
  now: () => number;
}

/** Serves the metadata of targets (spec 001 §4.2): it is read from controller's view and changed by controller. */
export function mountTargetMetadata(mount: Mount, deps: Deps): void {
  const at = (params: { targetId: string; metadataKey: string }) => ({ controllerId: params.targetId, key: params.metadataKey });

  mount(routes.listMetadata, async ({ tenantId, identity, params, query }) => {
    const kind = {
      source: metadataOfTarget(tenantId, scopeOf(identity, "READ_TARGET"), params.targetId),
      fields: metadataFields,
      sort: sortFields.metadata,
      uncursored: true,
    };
    const found = await readPage<MetadataRow>({ db: deps.db.pool, now: deps.now }, kind, query);
    if (!found.known) throw entityNotFound("Target", params.targetId);
    return { body: page(found.rows.map(metadataJson), found) };
  });

  mount(routes.createMetadata, async (ctx) => {
    const rows = await createTargetMetadata(deps, ctx, {
      controllerId: ctx.params.targetId,
      entries: ctx.body,
      overwrite: ctx.surface === "rest",
    });
    return { body: rows.map(metadataJson) };
  });

  mount(routes.getMetadata, async (ctx) => {
    const entry = await getTargetMetadata(deps, ctx.identity, at(ctx.params));
    return { body: metadataJson(entry), revision: revisionOfMetadata(entry) };
  });

  mount(routes.updateMetadata, async (ctx) => ({
    body: metadataJson(
      await changeTargetMetadata(deps, ctx, { at: at(ctx.params), change: ctx.body, create: ctx.surface === "rest", ifMatch: ctx.ifMatch }),
    ),
  }));

  mount(routes.deleteMetadata, async (ctx) => removeTargetMetadata(deps, ctx, at(ctx.params)));
}
