import { page, softwareModules } from "@harrier/contracts";
import { moduleFields, sortFields } from "@harrier/fiql";
import { readPage } from "@harrier/query";
import type { Mount } from "@harrier/service";
import type { ModuleRow } from "../rows/module.ts";
import { moduleJson } from "./software-module.json.ts";
import { moduleList } from "./software-modules.sql.ts";
import { changeModule, createModules, getModule, type ModuleDeps, removeModule } from "./software-modules.ts";

interface Deps extends ModuleDeps {
  now: () => number;
  /** Starts the release of the artifacts of a deleted module at once. */
  wake: () => void;
}

/** Serves software modules (spec 001 §4.4; contract management.md §4.2). */
export function mountSoftwareModules(mount: Mount, deps: Deps): void {
  mount(softwareModules.list, async (ctx) => {
    const source = moduleList(ctx.tenantId, ctx.query.soft_deleted_mode);
    const kind = { source, sort: sortFields.softwareModules, fields: moduleFields };
    const found = await readPage<ModuleRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return {
      body: page(
        found.rows.map((row) => moduleJson(ctx, row, false)),
        found,
      ),
    };
  });

  mount(softwareModules.create, async (ctx) => {
    const rows = await createModules(deps, ctx.identity, ctx.body);
    return { body: rows.map((row) => moduleJson(ctx, row, false)) };
  });

  mount(softwareModules.get, async (ctx) => {
    const row = await getModule(deps, ctx.tenantId, ctx.params.softwareModuleId);
    return { body: moduleJson(ctx, row, true), revision: row.revision };
  });

  mount(softwareModules.update, async (ctx) => {
    const row = await changeModule(deps, ctx.identity, { id: ctx.params.softwareModuleId, change: ctx.body, ifMatch: ctx.ifMatch });
    return { body: moduleJson(ctx, row, true) };
  });

  mount(softwareModules.delete, async (ctx) => {
    await removeModule(deps, ctx.identity, { id: ctx.params.softwareModuleId, ifMatch: ctx.ifMatch });
    deps.wake();
  });
}
