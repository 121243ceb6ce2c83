import { routeTable as r, type TargetImportView, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { type Page, viewer } from "../support/look.ts";

const csv = { "content-type": "text/csv" };

describe.each(dialects)("targets as CSV, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const { user } = accessBuilder(dialect);
  const send = (lines: string[], options: CallOptions = {}): CallOptions => ({ headers: csv, ...options, body: lines.join("\r\n") });
  const taken = async (lines: string[], options?: CallOptions) =>
    (await call<TargetImportView>(r.targets.importCsv, dialect, send(lines, options))).json;
  const exported = async (q: string, options: CallOptions = {}) => {
    const { text, headers } = await call(r.targets.exportCsv, dialect, { query: { q }, ...options });
    expect(headers["content-type"]).toMatch(/^text\/csv/);
    return text.split("\r\n").slice(0, -1);
  };
  const found = async (prefix: string) =>
    (await call<Page<TargetView>>(r.targets.list, dialect, { query: { q: `controllerid==${prefix}*`, limit: 1 } })).json.total;

  it("extensions: an export has every character of the import", async () => {
    const prefix = unique();
    const lines = [
      "name,controllerId,description,address,securityToken",
      `"a ""quoted"" name, with ü",${prefix}-1,"two\nlines",http://10.0.0.1:80,'=a-token-of-16-and-more`,
      `,${prefix}-2,'=1+1,,`,
      `'-x,${prefix}-3,plain,,`,
    ];
    expect(await taken(lines)).toEqual({ created: 3, failed: 0, errors: [] });
    expect(await view.target(`${prefix}-1`)).toMatchObject({
      name: 'a "quoted" name, with ü',
      description: "two\nlines",
      securityToken: "=a-token-of-16-and-more",
    });
    expect(await view.target(`${prefix}-2`)).toMatchObject({ name: `${prefix}-2`, description: "=1+1" });
    const [header, ...rows] = await exported(`controllerid==${prefix}*`);
    expect(header).toBe(
      "controllerId,name,description,address,securityToken,targetType,targetTypeName,updateStatus,lastControllerRequestAt,installedAt," +
        "createdBy,createdAt,lastModifiedBy,lastModifiedAt",
    );
    expect(rows).toHaveLength(3);
    expect(rows[0]).toContain(`${prefix}-1,"a ""quoted"" name, with ü","two\nlines",http://10.0.0.1:80,'=a-token-of-16-and-more,`);
    expect(rows[1]).toContain(`${prefix}-2,${prefix}-2,'=1+1,,`);
    expect(rows[2]).toContain(`${prefix}-3,'-x,plain,`);
    for (const n of [1, 2, 3]) await call(r.targets.delete, dialect, { params: { targetId: `${prefix}-${n}` } });
    expect(await taken([header as string, ...rows])).toEqual({ created: 3, failed: 0, errors: [] });
    expect(await view.target(`${prefix}-2`)).toMatchObject({ description: "=1+1" });
    expect((await exported(`controllerid==${prefix}*`)).length).toBe(4);
  });

  const mixed = (prefix: string, known: string) => [
    "controllerId,address,targetType",
    `${prefix}-1,,`,
    `${prefix} 2,,`,
    `${known},,`,
    `${prefix}-3,not a uri %%,`,
    `${prefix}-4,,4711`,
    `${prefix}-1,,`,
    `${prefix}-5,,x`,
    ",http://h,",
    `${prefix}-6,,`,
  ];
  const errors = (prefix: string, known: string) => [
    { line: 3, controllerId: `${prefix} 2`, errorCode: "hawkbit.server.error.repo.constraintViolation" },
    { line: 4, controllerId: known, errorCode: "hawkbit.server.error.repo.entityAlreadyExists" },
    { line: 5, errorCode: "hawkbit.server.error.repo.invalidTargetAddress" },
    { line: 6, errorCode: "hawkbit.server.error.repo.entityNotFound" },
    { line: 7, errorCode: "hawkbit.server.error.repo.entityAlreadyExists" },
    { line: 8, errorCode: "hawkbit.server.error.rest.body.notReadable" },
    { line: 9, errorCode: "hawkbit.server.error.repo.constraintViolation" },
  ];

  it("extensions: an error in any line stores nothing, and every wrong line is named", async () => {
    const [prefix, known] = [unique(), (await build.target()).controllerId];
    const { json } = await refused(r.targets.importCsv, dialect, send(mixed(prefix, known)), [400, "repo.constraintViolation"]);
    expect(json.info).toMatchObject({ created: 0, failed: 7, errors: errors(prefix, known) });
    expect(await found(prefix)).toBe(0);
  });

  it("extensions: with onError=skip the other lines are stored", async () => {
    const [prefix, known] = [unique(), (await build.target()).controllerId];
    const answer = await taken(mixed(prefix, known), { query: { onError: "skip" } });
    expect(answer).toMatchObject({ created: 2, failed: 7, errors: errors(prefix, known) });
    expect(await found(prefix)).toBe(2);
  });

  it.each([
    ["an unknown column", ["controllerId,colour", "x,red"], 400],
    ["no controllerId", ["name", "x"], 400],
    ["a column twice", ["controllerId,name,name", "x,y,z"], 400],
    ["a quote that does not end", ["controllerId,name", 'x,"y'], 400],
    ["cells too many", ["controllerId,name", "x,y,z"], 400],
    ["a record without an end", ["controllerId,name", `x,${"y".repeat(100_000)}`], 400],
  ])("extensions: %s is rejected", async (_case, lines, status) => {
    const prefix = unique();
    const named = lines.map((line) => line.replace(/^x/, prefix));
    await refused(r.targets.importCsv, dialect, send(named), [status, "repo.constraintViolation"]);
    expect(await found(prefix)).toBe(0);
  });

  it("extensions: an empty file creates nothing; another type of body is rejected", async () => {
    expect(await taken(["controllerId"])).toEqual({ created: 0, failed: 0, errors: [] });
    await refused(r.targets.importCsv, dialect, { body: [{ controllerId: "x" }] }, [415]);
    await refused(r.targets.importCsv, dialect, send(["controllerId"], { query: { onError: "ignore" } }), [400, "rest.body.notReadable"]);
    await refused(r.targets.exportCsv, dialect, { query: { q: "foo==1" } }, [400, "rest.param.rsqlInvalidField"]);
  });

  it("extensions: an export has tokens for users who may read them, and targets for users who may see them", async () => {
    const { controllerId, securityToken } = await build.target();
    const q = `controllerid==${controllerId}`;
    const reader = await user(["READ_TARGET"]);
    const [header, row] = await exported(q, { auth: reader.auth });
    expect(header).not.toContain("securityToken");
    expect(row).not.toContain(securityToken);
    const elsewhere = await user([{ permission: "READ_TARGET", targetTypeScopes: [] }]);
    expect(await exported(q, { auth: elsewhere.auth })).toHaveLength(1);
  });
});
