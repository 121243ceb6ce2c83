import type { AnchorKeys } from "@harrier/audit";
import { audits, page } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { readPage } from "@harrier/query";
import { type Mount, sendCsv } from "@harrier/service";
import { type EntryRow, entryFields, entryList, entrySort, findEntry } from "./audit.sql.ts";
import { auditEntryJson } from "./audit-entry.json.ts";
import { csvOfEntries } from "./export-csv.ts";
import { verifyNewest } from "./verify-trail.ts";

interface Deps {
  db: Database;
  now: () => number;
  /** The verifier demands signatures with these keys. */
  auditKeys?: AnchorKeys | undefined;
}

const entryId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Serves the audit trail of the tenant (contract extensions.md, Audit). */
export function mountAudit(mount: Mount, deps: Deps): void {
  mount(audits.list, async (ctx) => {
    const kind = { source: entryList(ctx.tenantId), fields: entryFields, sort: entrySort };
    const found = await readPage<EntryRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return { body: page(found.rows.map(auditEntryJson), found) };
  });

  mount(audits.exportCsv, async (ctx) => {
    await sendCsv(ctx, { name: "audit", noStore: true }, await csvOfEntries(deps, ctx.tenantId, ctx.query.q));
  });

  mount(audits.verify, async (ctx) => ({
    body: await verifyNewest({ db: deps.db.pool, now: deps.now, keys: deps.auditKeys }, { tenantId: ctx.tenantId, deadline: ctx.deadline }),
  }));

  mount(audits.get, async (ctx) => {
    const id = ctx.params.auditId.toLowerCase();
    const at = entryId.test(id) ? new Date(Number.parseInt(id.replace("-", "").slice(0, 12), 16)) : undefined;
    // Such a time is beyond the range of a timestamp.
    const row = at === undefined || at.getUTCFullYear() > 9999 ? undefined : await runOne(deps.db.pool, findEntry, [ctx.tenantId, id, at]);
    if (row === undefined) throw entityNotFound("AuditEntry", ctx.params.auditId);
    return { body: auditEntryJson(row) };
  });
}
