import { type ActionView, type AutoConfirmView, type OperationView, routeTable as r, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { typeBuilder } from "../support/types.ts";
import { eventually } from "../support/wait.ts";

describe.each(dialects)("changes of many targets, %s", (dialect) => {
  const build = builder(dialect);
  const { user } = accessBuilder(dialect);
  const { targetType } = typeBuilder(dialect);
  const total = async (q: string) => (await call<Page<TargetView>>(r.targets.list, dialect, { query: { q, limit: 1 } })).json.total;
  const fleet = async (count: number, more: object = {}) => {
    const prefix = unique();
    const body = Array.from({ length: count }, (_, n) => ({ controllerId: `${prefix}-${n}`, ...more }));
    await call(r.targets.create, dialect, { body });
    return prefix;
  };
  const newTag = async () =>
    (await call<{ id: number; name: string }[]>(r.targetTags.create, dialect, { body: [{ name: unique() }] })).json[0];
  const ended = async ({ id }: OperationView) => {
    const read = async () => (await call<OperationView>(r.operations.get, dialect, { params: { operationId: id } })).json;
    return eventually(async () => {
      const operation = await read();
      return operation.status === "finished" && operation;
    });
  };

  it("console M16 gives a tag and a type to all targets that a query means, and only if they are as many as confirmed", async () => {
    const [prefix, tag, type] = [await fleet(5), await newTag(), await targetType()];
    const q = `controllerid==${prefix}-*`;
    const body = { action: "addTag", tagId: tag?.id, q, confirm: 4 };
    const { json } = await refused(r.targets.change, dialect, { body }, [409, "repo.concurrentModification"]);
    expect(json.info).toEqual({ count: 5 });
    const operation = (await call<OperationView>(r.targets.change, dialect, { body: { ...body, confirm: 5 } })).json;
    expect(operation).toMatchObject({ kind: "change-targets", total: 5 });
    expect(await ended(operation)).toMatchObject({ done: 5, total: 5 });
    expect(await total(`tag==${tag?.name}`)).toBe(5);
    const typed = { action: "setType", targetTypeId: type.id, q, confirm: 5 };
    await ended((await call<OperationView>(r.targets.change, dialect, { body: typed })).json);
    expect(await total(`${q};targettype.id==${type.id}`)).toBe(5);
  });

  it("console M16 names the targets of a list that are not there or not in reach", async () => {
    const [mine, other] = [await targetType(), await targetType()];
    const [near, far] = [await fleet(1, { targetType: mine.id }), await fleet(1, { targetType: other.id })];
    const { auth } = await user([
      "READ_REPOSITORY",
      ...["READ_TARGET", "UPDATE_TARGET"].map((permission) => ({ permission, targetTypeScopes: [mine.id] })),
    ]);
    const controllerIds = [`${near}-0`, `${far}-0`, "no such target"];
    const { json } = await call<OperationView>(r.targets.change, dialect, { body: { action: "requestAttributes", controllerIds }, auth });
    const failures = [`${far}-0`, "no such target"].map((controllerId) => ({ controllerId, reason: "entityNotFound" }));
    expect(json).toMatchObject({ total: 1, failed: 2, failures });
    expect(await ended(json)).toMatchObject({ done: 1, failed: 2, failures });
  });

  it("console M16 assigns a set to many targets, lets them confirm by themselves and cancels what is open", async () => {
    const prefix = await fleet(3);
    const q = `controllerid==${prefix}-*`;
    const { id } = await build.set();
    const changed = async (body: object) =>
      ended((await call<OperationView>(r.targets.change, dialect, { body: { ...body, q, confirm: 3 } })).json);
    expect(await changed({ action: "assignSet", distributionSetId: id, type: "soft", weight: 42 })).toMatchObject({ done: 3, total: 3 });
    const actions = (more: string) =>
      call<Page<ActionView>>(r.actions.list, dialect, { query: { q: `target.controllerid==${prefix}-*;${more}` } });
    expect((await actions("active==true")).json.content.map(({ forceType, weight }) => [forceType, weight])).toEqual(
      Array.from({ length: 3 }, () => ["soft", 42]),
    );
    expect(await changed({ action: "activateAutoConfirm" })).toMatchObject({ done: 3 });
    const params = { targetId: `${prefix}-0` };
    expect((await call<AutoConfirmView>(r.targets.autoConfirm, dialect, { params })).json.active).toBe(true);
    expect(await changed({ action: "cancelActions" })).toMatchObject({ done: 3 });
    expect((await actions("detailstatus==canceling")).json.total).toBe(3);
    const unknown = { action: "assignSet", distributionSetId: 999_999_999, q, confirm: 3 };
    await refused(r.targets.change, dialect, { body: unknown }, [404, "repo.entityNotFound"]);
  });
});
