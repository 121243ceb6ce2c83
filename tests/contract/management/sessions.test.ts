import { routeTable as r, type SessionView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { unique } from "../support/build.ts";
import { ask, call, dialects, refused } from "../support/call.ts";
import { credentials } from "../support/http.ts";
import { oauth2ClientBuilder } from "../support/oauth2-clients.ts";
import { openSession, openSessionId } from "../support/sessions.ts";
import { tokenOf } from "../support/tokens.ts";
import { eventually } from "../support/wait.ts";

const unknown = [404, "repo.entityNotFound"] as const;
const forbidden = [403, "insufficientPermission"] as const;
/** Every gateway knows the end of a session within this time. */
const secondsMs = 5_000;

describe.each(dialects)("sessions, %s", (dialect) => {
  const { user } = accessBuilder(dialect);
  const mine = async (auth: string) => (await call<SessionView[]>(r.me.listSessions, dialect, { auth })).json;
  const theirs = async (userId: number) => (await call<SessionView[]>(r.users.listSessions, dialect, { params: { userId } })).json;
  const isOver = (auth: string) => eventually(async () => (await ask(r.userinfo.get, dialect, { auth })).status === 401, secondsMs);

  it("console M22 a user sees their own sessions, which of them is this one, and nothing that signs in", async () => {
    const { id: userId, auth } = await user();
    expect(await mine(auth)).toEqual([]);
    const before = Date.now();
    const bearer = await openSession(auth);
    const [session, ...others] = await mine(bearer);
    expect(others).toEqual([]);
    expect(session).toMatchObject({
      kind: "cli",
      current: true,
      userAgent: "contract suite",
      address: expect.stringMatching(/^[\d.:a-f]+$/),
    });
    expect(session).not.toHaveProperty("issuer");
    expect(session?.createdAt).toBeGreaterThan(before - 60_000);
    expect(session?.expiresAt).toBeGreaterThan(session?.idleExpiresAt as number);
    const shown = JSON.stringify(session);
    expect(shown).not.toContain(bearer.slice("Bearer ".length));
    expect(Object.keys(session as object).filter((key) => /digest|token|subject/i.test(key))).toEqual([]);
    // The same session, seen from elsewhere.
    expect(await mine(auth)).toMatchObject([{ id: session?.id, current: false }]);
    expect(await theirs(userId)).toMatchObject([{ id: session?.id, current: false }]);
  });

  it("console M22 a session that is ended is over at once, is listed no more, and the user's others stay", async () => {
    const { auth } = await user();
    const [kept, bearer] = [await openSession(auth), await openSession(auth)];
    const own = (await mine(bearer)).find(({ current }) => current)?.id as number;
    await call(r.me.deleteSession, dialect, { auth: kept, params: { sessionId: own } });
    expect((await mine(kept)).map(({ id }) => id)).not.toContain(own);
    await isOver(bearer);
    expect(await mine(kept)).toMatchObject([{ current: true }]);
    await refused(r.me.deleteSession, dialect, { auth: kept, params: { sessionId: own } }, unknown);
  });

  it("console M22 nobody sees or ends another's session as their own", async () => {
    const [ann, bob] = [await user(), await user()];
    const sessionId = await openSessionId(dialect, ann.auth);
    const bearer = await openSession(bob.auth);
    for (const auth of [bob.auth, bearer, credentials.admin]) {
      expect((await mine(auth)).map(({ id }) => id)).not.toContain(sessionId);
      await refused(r.me.deleteSession, dialect, { auth, params: { sessionId } }, unknown);
    }
    await refused(r.users.deleteSession, dialect, { params: { userId: bob.id, sessionId } }, unknown);
    await refused(r.users.listSessions, dialect, { auth: bob.auth, params: { userId: ann.id } }, forbidden);
    await refused(r.users.deleteSession, dialect, { auth: bob.auth, params: { userId: ann.id, sessionId } }, forbidden);
    expect(await theirs(ann.id)).toMatchObject([{ id: sessionId }]);
  });

  it("console M22 who manages users ends the sessions of those who hold no more", async () => {
    const [manager, lesser, greater] = [await user(["USER_MANAGEMENT"]), await user(), await user(["READ_TARGET"])];
    const bearer = await openSession(lesser.auth);
    const [session] = await theirs(lesser.id);
    const params = { userId: lesser.id, sessionId: session?.id as number };
    await call(r.users.deleteSession, dialect, { auth: manager.auth, params });
    await isOver(bearer);
    expect(await theirs(lesser.id)).toEqual([]);
    await refused(r.users.deleteSession, dialect, { auth: manager.auth, params }, unknown);

    const sessionId = await openSessionId(dialect, greater.auth);
    await refused(r.users.deleteSession, dialect, { auth: manager.auth, params: { userId: greater.id, sessionId } }, forbidden);
    expect(await theirs(greater.id)).toMatchObject([{ id: sessionId }]);
  });

  it("console M22 sessions that were opened with a former password are not listed", async () => {
    const { id: userId, auth } = await user();
    const sessionId = await openSessionId(dialect, auth);
    await call(r.users.changePassword, dialect, { params: { userId }, body: { newPassword: unique("a new password") } });
    expect(await theirs(userId)).toEqual([]);
    await refused(r.users.deleteSession, dialect, { params: { userId, sessionId } }, unknown);
  });

  it("console M22 a program has no sessions, and an unknown user is not found", async () => {
    await openSession();
    const client = await oauth2ClientBuilder(dialect).create({ scopes: ["management-full-access"] });
    const auth = await tokenOf(client);
    expect(await mine(auth)).toEqual([]);
    const [session] = await mine(credentials.admin);
    await refused(r.me.deleteSession, dialect, { auth, params: { sessionId: session?.id as number } }, unknown);
    await refused(r.users.listSessions, dialect, { params: { userId: 2_147_483_647 } }, unknown);
    await refused(r.users.deleteSession, dialect, { params: { userId: 2_147_483_647, sessionId: 1 } }, unknown);
  });
});
