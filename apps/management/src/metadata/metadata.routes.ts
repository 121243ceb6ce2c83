import { page, moduleMetadata as routesOfModules, setMetadata as routesOfSets, type UncursoredPageQuery } from "@harrier/contracts";
import type { Database } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { type FieldMap, metadataFields, moduleMetadataFields, type SortMap, sortFields } from "@harrier/fiql";
import { type Page, readPage } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { metadataJson, moduleMetadataJson } from "./metadata.json.ts";
import type { MetadataRow } from "./metadata.sql.ts";
import {
  changeMetadata,
  createMetadata,
  getMetadata,
  type MetadataOwner,
  ofModules,
  ofSets,
  removeMetadata,
  revisionOfMetadata,
} from "./metadata.ts";

interface Deps {
  db: Database;
  now: () => number;
}

interface Requested {
  of: MetadataOwner;
  tenantId: number;
  owner: number;
  query: UncursoredPageQuery;
}

/** Serves the metadata of software modules and distribution sets (spec 001 §4.1, §4.4). */
export function mountMetadata(mount: Mount, deps: Deps): void {
  mountOfModules(mount, deps);
  mountOfSets(mount, deps);
}

async function listOf(deps: Deps, requested: Requested, maps: { fields: FieldMap; sort: SortMap }): Promise<Page<MetadataRow>> {
  const { of, tenantId, owner, query } = requested;
  const kind = { source: of.statements.list(tenantId, owner), ...maps, uncursored: true };
  const found = await readPage<MetadataRow>({ db: deps.db.pool, now: deps.now }, kind, query);
  if (!found.known) throw entityNotFound(of.entity, owner);
  return found;
}

function mountOfModules(mount: Mount, deps: Deps): void {
  const at = (params: { softwareModuleId: number; metadataKey: string }) => ({ owner: params.softwareModuleId, key: params.metadataKey });

  mount(routesOfModules.listMetadata, async ({ tenantId, params, query }) => {
    const requested = { of: ofModules, tenantId, owner: params.softwareModuleId, query };
    const found = await listOf(deps, requested, { fields: moduleMetadataFields, sort: sortFields.moduleMetadata });
    return { body: page(found.rows.map(moduleMetadataJson), found) };
  });

  mount(routesOfModules.createMetadata, async (ctx) => {
    const rows = await createMetadata(deps, ofModules, ctx.identity, {
      owner: ctx.params.softwareModuleId,
      entries: ctx.body,
      overwrite: ctx.surface === "rest",
    });
    return { body: rows.map(moduleMetadataJson) };
  });

  mount(routesOfModules.getMetadata, async (ctx) => {
    const entry = await getMetadata(deps, ofModules, ctx.tenantId, at(ctx.params));
    return { body: moduleMetadataJson(entry), revision: revisionOfMetadata(entry) };
  });

  mount(routesOfModules.updateMetadata, async (ctx) => ({
    body: moduleMetadataJson(
      await changeMetadata(deps, ofModules, ctx.identity, {
        at: at(ctx.params),
        change: ctx.body,
        create: ctx.surface === "rest",
        ifMatch: ctx.ifMatch,
      }),
    ),
  }));

  mount(routesOfModules.deleteMetadata, async (ctx) => removeMetadata(deps, ofModules, ctx.identity, at(ctx.params)));
}

function mountOfSets(mount: Mount, deps: Deps): void {
  const at = (params: { distributionSetId: number; metadataKey: string }) => ({ owner: params.distributionSetId, key: params.metadataKey });

  mount(routesOfSets.listMetadata, async ({ tenantId, params, query }) => {
    const found = await listOf(
      deps,
      { of: ofSets, tenantId, owner: params.distributionSetId, query },
      { fields: metadataFields, sort: sortFields.metadata },
    );
    return { body: page(found.rows.map(metadataJson), found) };
  });

  mount(routesOfSets.createMetadata, async (ctx) => {
    const rows = await createMetadata(deps, ofSets, ctx.identity, {
      owner: ctx.params.distributionSetId,
      entries: ctx.body,
      overwrite: ctx.surface === "rest",
    });
    return { body: rows.map(metadataJson) };
  });

  mount(routesOfSets.getMetadata, async (ctx) => {
    const entry = await getMetadata(deps, ofSets, ctx.tenantId, at(ctx.params));
    return { body: metadataJson(entry), revision: revisionOfMetadata(entry) };
  });

  mount(routesOfSets.updateMetadata, async (ctx) => ({
    body: metadataJson(
      await changeMetadata(deps, ofSets, ctx.identity, {
        at: at(ctx.params),
        change: ctx.body,
        create: ctx.surface === "rest",
        ifMatch: ctx.ifMatch,
      }),
    ),
  }));

  mount(routesOfSets.deleteMetadata, async (ctx) => removeMetadata(deps, ofSets, ctx.identity, at(ctx.params)));
}
