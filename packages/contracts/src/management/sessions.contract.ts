import { z } from "zod";
import { bodiless, ok, routesOf } from "../route.ts";
import { pathId } from "../values.ts";

/** A session of a user that is not over, never with what signs in. Times are epoch milliseconds. */
export const sessionView = z
  .object({
    id: z.int(),
    kind: z.enum(["browser", "cli"]),
    /** Whether the request itself came by this session. */
    current: z.boolean(),
    createdAt: z.int(),
    lastUsedAt: z.int(),
    expiresAt: z.int(),
    idleExpiresAt: z.int(),
    address: z.string(),
    userAgent: z.string(),
    issuer: z.string().optional(),
  })
  .meta({ id: "Session" });
export type SessionView = z.output<typeof sessionView>;

const common = { service: "management", interface: "management", source: "contract console.md §3 M22" } as const;
const own = { ...common, permission: [] } as const;
const anybody = { ...common, permission: ["USER_MANAGEMENT"] } as const;
const all = z.array(sessionView);

/** The caller's own sessions. A client has none, and a user of an issuer has those of that issuer. */
export const me = routesOf("me", own, {
  listSessions: {
    method: "GET",
    path: "/me/sessions",
    success: ok,
    response: all,
    errors: [],
    summary: "List the caller's own sessions, the one that was used last first",
  },
  deleteSession: {
    method: "DELETE",
    path: "/me/sessions/:sessionId",
    params: z.object({ sessionId: pathId }),
    success: bodiless,
    errors: ["entityNotFound"],
    summary: "End one of the caller's own sessions, at all gateways within a second",
  },
});

/** The sessions of any user of the tenant. */
export const sessionsOfUser = routesOf("users", anybody, {
  listSessions: {
    method: "GET",
    path: "/users/:userId/sessions",
    params: z.object({ userId: pathId }),
    success: ok,
    response: all,
    errors: ["entityNotFound"],
    summary: "List the sessions of a user, the one that was used last first",
  },
  deleteSession: {
    method: "DELETE",
    path: "/users/:userId/sessions/:sessionId",
    params: z.object({ userId: pathId, sessionId: pathId }),
    success: bodiless,
    // Who holds more than the caller could be kept out by a caller who ends each session of theirs.
    errors: ["entityNotFound", "insufficientPermission"],
    summary: "End a session of a user who holds no more than the caller, at all gateways within a second",
  },
});
