import { expect } from "vitest";

export type Headers = Readonly<Record<string, string>>;

export const json = { "content-type": "application/json" };
/** What a page of the console sends with each change. */
export const own = { "x-harrier-console": "1", "sec-fetch-site": "same-origin" };

/** The cookie that an answer sets, as the browser sends it. */
export const cookieOf = (answer: Response): string => /^[^;]+/.exec(answer.headers.getSetCookie()[0] ?? "")?.[0] ?? "";

/** Sessions as pages and the command line have them, of users with the same password; each call is of `first` unless it names a gateway. */
export function pageSessions(first: () => string, password: string) {
  const post = (body: unknown, headers: Headers = {}, gateway = first()) =>
    fetch(`${gateway}/console/session`, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
  return {
    post,
    /** Signs in as a page does; returns what the browser would send from then on. */
    async signIn(username: string, headers: Headers = {}, gateway = first()): Promise<string> {
      const answer = await post({ username, password, kind: "browser" }, { "sec-fetch-site": "same-origin", ...headers }, gateway);
      expect(answer.status).toBe(204);
      expect(await answer.text()).toBe("");
      return cookieOf(answer);
    },
    /** Signs in as the command line does; returns its token. */
    async token(username: string): Promise<string> {
      const answer = await post({ username, password, kind: "cli" });
      expect(answer.status).toBe(200);
      return ((await answer.json()) as { token: string }).token;
    },
    session: (headers: Headers, gateway = first(), method = "GET") => fetch(`${gateway}/console/session`, { method, headers }),
    api: (headers: Headers, gateway = first(), path = "userinfo", init: RequestInit = {}) =>
      fetch(`${gateway}/api/mgmt/v1/${path}`, { ...init, headers }),
  };
}
