import { page, type TargetTypeView, targetTypes } from "@harrier/contracts";
import { sortFields, typeFields } from "@harrier/fiql";
import { readPage, scopeOf, type View } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { typeMembersOf } from "../lists/type.json.ts";
import type { TargetTypeRow } from "../rows/type.ts";
import { setTypeJson } from "../set-types/set-type.json.ts";
import { targetTypeList } from "./target-types.sql.ts";
import {
  addCompatibleSetTypes,
  changeTargetType,
  checkMayCreate,
  compatibleSetTypes,
  createTargetTypes,
  getTargetType,
  reachable,
  removeCompatibleSetType,
  removeTargetType,
  type TargetTypeDeps,
} from "./target-types.ts";

/** Renders a target type (spec 001 §2.7); a single answer also links the set types that its targets may get (contract management.md §1.5). */
function targetTypeJson({ base }: View, row: TargetTypeRow, single: boolean): TargetTypeView {
  const self = `${base}/targettypes/${row.id}`;
  const compatible = { compatibledistributionsettypes: { href: `${self}/compatibledistributionsettypes` } };
  const { evidence } = row;
  return {
    ...typeMembersOf(row),
    ...(evidence.length > 0 && { evidence }),
    _links: { self: { href: self }, ...(single ? compatible : {}) },
  };
}

interface Deps extends TargetTypeDeps {
  now: () => number;
}

/** Serves the types of targets (spec 001 §4.5; contract management.md §4.7). */
export function mountTargetTypes(mount: Mount, deps: Deps): void {
  mount(targetTypes.list, async (ctx) => {
    const kind = {
      source: targetTypeList(ctx.tenantId, scopeOf(ctx.identity, "READ_TARGET")),
      sort: sortFields.targetTypes,
      fields: typeFields,
    };
    const found = await readPage<TargetTypeRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return {
      body: page(
        found.rows.map((row) => targetTypeJson(ctx, row, false)),
        found,
      ),
    };
  });

  mount(targetTypes.create, async (ctx) => {
    checkMayCreate(ctx.identity);
    const rows = await createTargetTypes(deps, ctx.identity, ctx.body);
    return { body: rows.map((row) => targetTypeJson(ctx, row, false)) };
  });

  mount(targetTypes.get, async (ctx) => {
    const row = await getTargetType(deps, ctx.tenantId, reachable(ctx.identity, "READ_TARGET", ctx.params.targetTypeId));
    return { body: targetTypeJson(ctx, row, true), revision: row.revision };
  });

  mount(targetTypes.update, async (ctx) => {
    const row = await changeTargetType(deps, ctx.identity, {
      id: reachable(ctx.identity, "UPDATE_TARGET", ctx.params.targetTypeId),
      change: ctx.body,
      ifMatch: ctx.ifMatch,
    });
    return { body: targetTypeJson(ctx, row, true) };
  });

  mount(targetTypes.delete, async (ctx) =>
    removeTargetType(deps, ctx.tenantId, {
      id: reachable(ctx.identity, "DELETE_TARGET", ctx.params.targetTypeId),
      ifMatch: ctx.ifMatch,
    }),
  );

  mount(targetTypes.listCompatible, async (ctx) => {
    const rows = await compatibleSetTypes(deps, ctx.tenantId, reachable(ctx.identity, "READ_TARGET", ctx.params.targetTypeId));
    return { body: rows.map((row) => setTypeJson(ctx, row, false)) };
  });

  mount(targetTypes.addCompatible, async (ctx) =>
    addCompatibleSetTypes(deps, ctx.identity, {
      id: reachable(ctx.identity, "UPDATE_TARGET", ctx.params.targetTypeId),
      setTypes: ctx.body.map((setType) => setType.id),
    }),
  );

  mount(targetTypes.removeCompatible, async (ctx) => {
    const id = reachable(ctx.identity, "UPDATE_TARGET", ctx.params.targetTypeId);
    await removeCompatibleSetType(deps, ctx.identity, { id, setTypeId: ctx.params.distributionSetTypeId });
  });
}
