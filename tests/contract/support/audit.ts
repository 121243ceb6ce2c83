import { type AuditEntryView, routeTable as r } from "@harrier/contracts";
import { call, type Dialect } from "./call.ts";
import type { Page } from "./look.ts";
import type { ValidRequest } from "./walk.ts";

/** A valid request for every route of the audit trail; whatever the world is made of has left its entries. */
export function auditRequests(dialect: Dialect): Record<string, ValidRequest> {
  const listed = { query: { q: "result==success;action==targets.*", sort: "time:DESC,action:ASC", limit: 5 } };
  return {
    "audit.list": () => listed,
    "audit.verify": () => ({}),
    "audit.get": async () => {
      const [entry] = (await call<Page<AuditEntryView>>(r.audit.list, dialect, listed)).json.content;
      return { params: { auditId: entry?.id as string } };
    },
  };
}
