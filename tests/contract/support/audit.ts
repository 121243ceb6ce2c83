import { type AuditEntryView, routeTable as r } from "@harrier/contracts";
import { call, type Dialect } from "./call.ts";
import type { Page } from "./look.ts";
import type { ValidRequest } from "./walk.ts";

/** Makes a valid request for every route of the audit trail; the requests that made the fixture have left entries in it. */
export function auditRequests(dialect: Dialect): Record<string, ValidRequest> {
  const listed = { query: { q: "result==success;action==targets.*", sort: "time:DESC,action:ASC", limit: 5 } };
  return {
    "audit.list": () => listed,
    "audit.exportCsv": () => ({ query: { q: "result==success;action==targets.create" } }),
    "audit.verify": () => ({}),
    "audit.get": async () => {
      const [entry] = (await call<Page<AuditEntryView>>(r.audit.list, dialect, listed)).json.content;
      return { params: { auditId: entry?.id as string } };
    },
  };
}
