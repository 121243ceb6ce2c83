import { distributionSetTypes, page, softwareModuleTypes } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { moduleTypeFields, sortFields, typeFields } from "@harrier/fiql";
import type { Mount } from "@harrier/service";
import { readPage } from "../lists/list.ts";
import { moduleTypeJson, setTypeJson } from "./type.json.ts";
import { findModuleType, findSetType, type ModuleTypeRow, moduleTypeList, type SetTypeRow, setTypeList } from "./types.sql.ts";

interface Deps {
  db: Database;
  now: () => number;
}

/** Types of modules and of sets (spec 001 §4.4). */
export function mountTypes(mount: Mount, { db, now }: Deps): void {
  const list = { db: db.pool, now };

  mount(softwareModuleTypes.list, async (ctx) => {
    const source = moduleTypeList(ctx.tenantId, ctx.query.soft_deleted_mode);
    const kind = { source, sort: sortFields.softwareModuleTypes, fields: moduleTypeFields };
    const { rows, total } = await readPage<ModuleTypeRow>(list, kind, ctx.query);
    return {
      body: page(
        rows.map((row) => moduleTypeJson(ctx, row)),
        total,
      ),
    };
  });

  mount(softwareModuleTypes.get, async (ctx) => {
    const id = ctx.params.softwareModuleTypeId;
    const row = await runOne(db.pool, findModuleType, [ctx.tenantId, id]);
    if (row === undefined) throw entityNotFound("SoftwareModuleType", id);
    return { body: moduleTypeJson(ctx, row) };
  });

  mount(distributionSetTypes.list, async (ctx) => {
    const source = setTypeList(ctx.tenantId, ctx.query.soft_deleted_mode);
    const kind = { source, sort: sortFields.distributionSetTypes, fields: typeFields };
    const { rows, total } = await readPage<SetTypeRow>(list, kind, ctx.query);
    return {
      body: page(
        rows.map((row) => setTypeJson(ctx, row, false)),
        total,
      ),
    };
  });

  mount(distributionSetTypes.get, async (ctx) => {
    const id = ctx.params.distributionSetTypeId;
    const row = await runOne(db.pool, findSetType, [ctx.tenantId, id]);
    if (row === undefined) throw entityNotFound("DistributionSetType", id);
    return { body: setTypeJson(ctx, row, true) };
  });
}
