import { distributionSetTypes, page } from "@harrier/contracts";
import { sortFields, typeFields } from "@harrier/fiql";
import { readPage } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { moduleTypeJson } from "../module-types/module-type.json.ts";
import type { TypeRow } from "../rows/type.ts";
import { addModuleType, listedModuleType, listedModuleTypes, removeListedModuleType } from "./listed-module-types.ts";
import { setTypeJson } from "./set-type.json.ts";
import { setTypeList } from "./set-types.sql.ts";
import { changeSetType, createSetTypes, getSetType, removeSetType, type SetTypeDeps } from "./set-types.ts";

interface Deps extends SetTypeDeps {
  now: () => number;
}

/** Serves the types of distribution sets (spec 001 §4.4; contract management.md §4.5). */
export function mountSetTypes(mount: Mount, deps: Deps): void {
  mount(distributionSetTypes.list, async (ctx) => {
    const source = setTypeList(ctx.tenantId, ctx.query.soft_deleted_mode);
    const kind = { source, sort: sortFields.distributionSetTypes, fields: typeFields };
    const found = await readPage<TypeRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return {
      body: page(
        found.rows.map((row) => setTypeJson(ctx, row, false)),
        found,
      ),
    };
  });

  mount(distributionSetTypes.create, async (ctx) => {
    const rows = await createSetTypes(deps, ctx.identity, ctx.body);
    return { body: rows.map((row) => setTypeJson(ctx, row, false)) };
  });

  mount(distributionSetTypes.get, async (ctx) => {
    const row = await getSetType(deps, ctx.tenantId, ctx.params.distributionSetTypeId);
    return { body: setTypeJson(ctx, row, true), revision: row.revision };
  });

  mount(distributionSetTypes.update, async (ctx) => {
    const id = ctx.params.distributionSetTypeId;
    const row = await changeSetType(deps, ctx.identity, { id, change: ctx.body, ifMatch: ctx.ifMatch });
    return { body: setTypeJson(ctx, row, true) };
  });

  mount(distributionSetTypes.delete, async (ctx) =>
    removeSetType(deps, ctx.identity, { id: ctx.params.distributionSetTypeId, ifMatch: ctx.ifMatch }),
  );

  mountLists(mount, deps);
}

function mountLists(mount: Mount, deps: Deps): void {
  const { listMandatory, addMandatory, getMandatory, removeMandatory } = distributionSetTypes;
  const { listOptional, addOptional, getOptional, removeOptional } = distributionSetTypes;
  const lists = [
    { mandatory: true, list: listMandatory, add: addMandatory, get: getMandatory, remove: removeMandatory },
    { mandatory: false, list: listOptional, add: addOptional, get: getOptional, remove: removeOptional },
  ];
  for (const { mandatory, list, add, get, remove } of lists) {
    mount(list, async (ctx) => {
      const rows = await listedModuleTypes(deps, ctx.tenantId, { setTypeId: ctx.params.distributionSetTypeId, mandatory });
      return { body: rows.map((row) => moduleTypeJson(ctx, row)) };
    });

    mount(add, async (ctx) =>
      addModuleType(deps, ctx.identity, { setTypeId: ctx.params.distributionSetTypeId, moduleTypeId: ctx.body.id, mandatory }),
    );

    mount(get, async (ctx) => {
      const { distributionSetTypeId: setTypeId, softwareModuleTypeId: moduleTypeId } = ctx.params;
      return { body: moduleTypeJson(ctx, await listedModuleType(deps, ctx.tenantId, { setTypeId, moduleTypeId, mandatory })) };
    });

    mount(remove, async (ctx) => {
      const { distributionSetTypeId: setTypeId, softwareModuleTypeId: moduleTypeId } = ctx.params;
      await removeListedModuleType(deps, ctx.identity, { setTypeId, moduleTypeId });
    });
  }
}
