import { type AuditEntryView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";

describe.each(dialects)("the audit trail as CSV, %s", (dialect) => {
  const { user } = accessBuilder(dialect);
  const exported = async (q: string) => {
    const { text, headers } = await call(r.audit.exportCsv, dialect, { query: { q } });
    expect(headers["content-type"]).toMatch(/^text\/csv/);
    expect(headers["cache-control"]).toBe("no-store");
    return text.split("\r\n").slice(0, -1);
  };

  it("console M21 the export has the entries of the list, in its order", async () => {
    const actor = await user(["UPDATE_TARGET", "CREATE_TARGET", "READ_TARGET"]);
    for (const _ of [1, 2, 3]) await call(r.targets.create, dialect, { auth: actor.auth, body: [{ controllerId: unique() }] });
    const q = `actor==${actor.name};action==targets.create`;
    const { content } = (await call<Page<AuditEntryView>>(r.audit.list, dialect, { query: { q } })).json;
    expect(content).toHaveLength(3);
    const [header, ...lines] = await exported(q);
    expect(header).toBe(
      "id,time,timeUtc,actorType,actor,action,entity,entityIds,sourceIp,requestId,result,status,errorCode,times,service,sealed,details",
    );
    const starts = content.map(({ id, time }) => `${id},${time},${new Date(time).toISOString()},USER,${actor.name},targets.create,target,`);
    expect(lines.map((line, n) => line.slice(0, starts[n]?.length))).toEqual(starts);
    expect(lines[0]).toContain(`"[""${content[0]?.entityIds[0]}""]"`);
  });

  it("console M21 errors of the query are those of the list, and nothing matching is a header alone", async () => {
    await refused(r.audit.exportCsv, dialect, { query: { q: "foo==1" } }, [400, "rest.param.rsqlInvalidField"]);
    expect(await exported(`actor==${unique()}`)).toHaveLength(1);
  });
});
