import { routeTable as r, type SessionView } from "@harrier/contracts";
import { expect } from "vitest";
import { accessBuilder } from "./access.ts";
import { call, type Dialect } from "./call.ts";
import { credentials } from "./http.ts";
import { openPage } from "./tokens.ts";
import type { ValidRequest } from "./walk.ts";

/** Opens a session by the password of a Basic header, and returns the Authorization header of the session. */
export async function openSession(auth = credentials.admin): Promise<string> {
  const pair = Buffer.from(auth.slice("Basic ".length), "base64").toString();
  const at = pair.indexOf(":");
  const body = JSON.stringify({ username: pair.slice(0, at), password: pair.slice(at + 1), kind: "cli" });
  const headers = { "content-type": "application/json", "user-agent": "contract suite" };
  const { status, text, json } = await openPage("/console/session", { method: "POST", headers, body });
  expect(status, text).toBe(200);
  return `Bearer ${json["token"]}`;
}

/** Opens a session and returns its number, as its user sees it. */
export async function openSessionId(dialect: Dialect, auth?: string): Promise<number> {
  const bearer = await openSession(auth);
  const { json } = await call<SessionView[]>(r.me.listSessions, dialect, { auth: bearer });
  return json.find(({ current }) => current)?.id as number;
}

/** Makes a valid request for every route of sessions. */
export function sessionRequests(dialect: Dialect): Record<string, ValidRequest> {
  const { user } = accessBuilder(dialect);
  const ofUser = async () => {
    const { id: userId, auth } = await user(["READ_TARGET"]);
    return { userId, sessionId: await openSessionId(dialect, auth) };
  };
  return {
    "me.listSessions": async () => {
      await openSession();
      return {};
    },
    "me.deleteSession": async () => ({ params: { sessionId: await openSessionId(dialect) } }),
    "users.listSessions": async () => ({ params: { userId: (await ofUser()).userId } }),
    "users.deleteSession": async () => ({ params: await ofUser() }),
  };
}
