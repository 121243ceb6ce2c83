import { page, softwareModuleTypes } from "@harrier/contracts";
import { moduleTypeFields, sortFields } from "@harrier/fiql";
import { readPage } from "@harrier/query";
import type { Mount } from "@harrier/service";
import type { ModuleTypeRow } from "../rows/type.ts";
import { moduleTypeJson } from "./module-type.json.ts";
import { moduleTypeList } from "./module-types.sql.ts";
import { changeModuleType, createModuleTypes, getModuleType, type ModuleTypeDeps, removeModuleType } from "./module-types.ts";

interface Deps extends ModuleTypeDeps {
  now: () => number;
}

/** Serves the types of software modules (spec 001 §4.4; contract management.md §4.4). */
export function mountModuleTypes(mount: Mount, deps: Deps): void {
  mount(softwareModuleTypes.list, async (ctx) => {
    const source = moduleTypeList(ctx.tenantId, ctx.query.soft_deleted_mode);
    const kind = { source, sort: sortFields.softwareModuleTypes, fields: moduleTypeFields };
    const found = await readPage<ModuleTypeRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return {
      body: page(
        found.rows.map((row) => moduleTypeJson(ctx, row)),
        found,
      ),
    };
  });

  mount(softwareModuleTypes.create, async (ctx) => {
    const rows = await createModuleTypes(deps, ctx.identity, ctx.body);
    return { body: rows.map((row) => moduleTypeJson(ctx, row)) };
  });

  mount(softwareModuleTypes.get, async (ctx) => {
    const row = await getModuleType(deps, ctx.tenantId, ctx.params.softwareModuleTypeId);
    return { body: moduleTypeJson(ctx, row), revision: row.revision };
  });

  mount(softwareModuleTypes.update, async (ctx) => {
    const id = ctx.params.softwareModuleTypeId;
    const row = await changeModuleType(deps, ctx.identity, { id, change: ctx.body, ifMatch: ctx.ifMatch });
    return { body: moduleTypeJson(ctx, row) };
  });

  mount(softwareModuleTypes.delete, async (ctx) =>
    removeModuleType(deps, ctx.identity, { id: ctx.params.softwareModuleTypeId, ifMatch: ctx.ifMatch }),
  );
}
