import { type OperationView, routeTable as r, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { typeBuilder } from "../support/types.ts";
import { eventually } from "../support/wait.ts";

describe.each(dialects)("changes of many targets, %s", (dialect) => {
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
});
