import { distributionSets, page } from "@harrier/contracts";
import { entityNotFound } from "@harrier/errors";
import { setFields, sortFields } from "@harrier/fiql";
import { readPage } from "@harrier/query";
import type { Mount } from "@harrier/service";
import type { ModuleRow } from "../rows/module.ts";
import type { SetRow } from "../rows/set.ts";
import { moduleJson } from "../software-modules/software-module.json.ts";
import { assignModules, removeModuleOfSet } from "./assign-modules.ts";
import { setJson } from "./distribution-set.json.ts";
import { modulesOfSet, setList } from "./distribution-sets.sql.ts";
import { changeSet, createSets, getSet, removeSet, type SetDeps } from "./distribution-sets.ts";

interface Deps extends SetDeps {
  now: () => number;
}

/** Serves distribution sets and their modules (spec 001 §4.1; contract management.md §4.1). The folder targets/ serves their targets. */
export function mountDistributionSets(mount: Mount, deps: Deps): void {
  const list = { db: deps.db.pool, now: deps.now };

  mount(distributionSets.list, async (ctx) => {
    const kind = { source: setList(ctx.tenantId, ctx.query.soft_deleted_mode), sort: sortFields.distributionSets, fields: setFields };
    const found = await readPage<SetRow>(list, kind, ctx.query);
    return {
      body: page(
        found.rows.map((row) => setJson(ctx, row, false)),
        found,
      ),
    };
  });

  mount(distributionSets.create, async (ctx) => {
    const rows = await createSets(deps, ctx.identity, ctx.body);
    return { body: rows.map((row) => setJson(ctx, row, false)) };
  });

  mount(distributionSets.get, async (ctx) => {
    const row = await getSet(deps, ctx.tenantId, ctx.params.distributionSetId);
    return { body: setJson(ctx, row, true), revision: row.revision };
  });

  mount(distributionSets.update, async (ctx) => {
    const id = ctx.params.distributionSetId;
    const row = await changeSet(deps, ctx.identity, { id, change: ctx.body, ifMatch: ctx.ifMatch });
    return { body: setJson(ctx, row, true) };
  });

  mount(distributionSets.delete, async (ctx) => removeSet(deps, ctx.identity, { id: ctx.params.distributionSetId, ifMatch: ctx.ifMatch }));

  mount(distributionSets.listModules, async (ctx) => {
    const id = ctx.params.distributionSetId;
    const kind = { source: modulesOfSet(ctx.tenantId, id), sort: sortFields.softwareModules };
    const found = await readPage<ModuleRow>(list, kind, ctx.query);
    if (!found.known) throw entityNotFound("DistributionSet", id);
    return {
      body: page(
        found.rows.map((row) => moduleJson(ctx, row, false)),
        found,
      ),
    };
  });

  mount(distributionSets.assignModules, async (ctx) =>
    assignModules(deps, ctx.identity, {
      id: ctx.params.distributionSetId,
      modules: ctx.body.map((module) => module.id),
      surface: ctx.surface,
    }),
  );

  mount(distributionSets.removeModule, async (ctx) =>
    removeModuleOfSet(deps, ctx.identity, {
      id: ctx.params.distributionSetId,
      moduleId: ctx.params.softwareModuleId,
      surface: ctx.surface,
    }),
  );
}
