import { type AuditEntryView, type OperationView, routeTable as r, type TargetImportView, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { ask, type CallOptions, call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { typeBuilder } from "../support/types.ts";
import { eventually } from "../support/wait.ts";

describe.each(dialects)("targets by query, %s", (dialect) => {
  const build = builder(dialect);
  const { user } = accessBuilder(dialect);
  const { targetType } = typeBuilder(dialect);
  const requested = (q: string, confirm: number, options: CallOptions = {}): CallOptions => ({ ...options, query: { q, confirm } });
  const total = async (q: string) => (await call<Page<TargetView>>(r.targets.list, dialect, { query: { q, limit: 1 } })).json.total;
  const fleet = async (prefix: string, count: number) => {
    const body = ["controllerId", ...Array.from({ length: count }, (_, n) => `${prefix}-${n}`)].join("\n");
    await call<TargetImportView>(r.targets.importCsv, dialect, { headers: { "content-type": "text/csv" }, body });
    return `controllerid==${prefix}-*`;
  };

  it("extensions: targets are deleted by a query that is confirmed by their number", async () => {
    const [prefix, other] = [unique(), unique()];
    const [q, kept] = [await fleet(prefix, 5), await fleet(other, 2)];
    const { json } = await refused(r.targets.deleteByQuery, dialect, requested(q, 4), [409, "repo.concurrentModification"]);
    expect(json.info).toEqual({ count: 5 });
    expect(await total(q)).toBe(5);
    expect((await call(r.targets.deleteByQuery, dialect, requested(q, 5))).status).toBe(204);
    expect([await total(q), await total(kept)]).toEqual([0, 2]);
    await refused(r.targets.get, dialect, { params: { targetId: `${prefix}-1` } }, [404, "repo.entityNotFound"]);
    await call(r.targets.create, dialect, { body: [{ controllerId: `${prefix}-1` }] });
    // The query matches none, and the request confirms that.
    expect((await call(r.targets.deleteByQuery, dialect, requested(`controllerid==${unique()}`, 0))).status).toBe(204);
  });

  it("extensions: the open actions of deleted targets are deleted too", async () => {
    const { controllerId, actionId } = await build.deployment();
    await call(r.targets.deleteByQuery, dialect, requested(`controllerid==${controllerId}`, 1));
    await refused(r.actions.get, dialect, { params: { actionId } }, [404, "repo.entityNotFound"]);
  });

  it.each([
    ["no query", { confirm: 1 }, "repo.constraintViolation"],
    ["an empty query", { q: "", confirm: 1 }, "rest.param.rsqlParamSyntax"],
    ["no number", { q: "name==x" }, "repo.constraintViolation"],
    ["a number that is none", { q: "name==x", confirm: "all" }, "rest.body.notReadable"],
    ["a query that cannot be read", { q: "name==", confirm: 1 }, "rest.param.rsqlParamSyntax"],
    ["an unknown field", { q: "foo==1", confirm: 1 }, "rest.param.rsqlInvalidField"],
  ])("extensions: %s is rejected, and nothing is deleted", async (_case, query, code) => {
    const { controllerId } = await build.target();
    await refused(r.targets.deleteByQuery, dialect, { query }, [400, code]);
    expect(await total(`controllerid==${controllerId}`)).toBe(1);
  });

  it("extensions: more than a thousand targets are deleted in the background, and an operation shows the progress", async () => {
    const q = await fleet(unique(), 1_201);
    const { status, json } = await call<OperationView>(r.targets.deleteByQuery, dialect, requested(q, 1_201));
    expect(status).toBe(202);
    expect(json).toMatchObject({ kind: "delete-targets", subject: q, total: 1_201 });
    const operation = async () => (await call<OperationView>(r.operations.get, dialect, { params: { operationId: json.id } })).json;
    await eventually(async () => (await operation()).status === "finished", 60_000);
    expect(await operation()).toMatchObject({ done: 1_201, total: 1_201 });
    expect(await total(q)).toBe(0);
    const { auth } = await user(["READ_TARGET"]);
    await refused(r.operations.get, dialect, { params: { operationId: json.id }, auth }, [404, "repo.entityNotFound"]);
  });

  it("extensions: a user restricted to a target type deletes targets of that type only", async () => {
    const type = await targetType();
    const [mine, other] = [await build.target({ targetType: type.id }), await build.target()];
    const q = `controllerid=in=(${mine.controllerId},${other.controllerId})`;
    const grants = ["READ_TARGET", "DELETE_TARGET"].map((permission) => ({ permission, targetTypeScopes: [type.id] }));
    const { auth } = await user(grants);
    const { json } = await refused(r.targets.deleteByQuery, dialect, requested(q, 2, { auth }), [409, "repo.concurrentModification"]);
    expect(json.info).toEqual({ count: 1 });
    await call(r.targets.deleteByQuery, dialect, requested(q, 1, { auth }));
    expect(await total(q)).toBe(1);
    const reader = await user(["READ_TARGET", "CREATE_TARGET", "UPDATE_TARGET"]);
    await refused(r.targets.deleteByQuery, dialect, requested(q, 1, { auth: reader.auth }), [403, "insufficientPermission"]);
  });

  it("extensions audit: the audit trail has the request", async () => {
    const { controllerId } = await build.target();
    const [q, rid] = [`controllerid==${controllerId}`, unique("rid")];
    await ask(r.targets.deleteByQuery, dialect, requested(q, 1, { headers: { "x-request-id": rid } }));
    const { content } = (await call<Page<AuditEntryView>>(r.audit.list, dialect, { query: { q: `requestid==${rid}` } })).json;
    expect(content).toMatchObject([{ action: "targets.deleteByQuery", entity: "target", result: "SUCCESS", status: 204 }]);
    expect(content[0]?.details).toEqual({ values: { q, confirm: 1 } });
  });
});
