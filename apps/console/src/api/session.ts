import { ApiError, ask, r, send } from "./client.ts";

/** How people may sign in, as `/console/config` says it. */
export interface ConsoleConfig {
  readonly version?: string;
  readonly signIn: { readonly password: boolean; readonly issuers: readonly { readonly id: string; readonly name: string }[] };
}

const passwordAlone: ConsoleConfig = { signIn: { password: true, issuers: [] } };

/** The configuration of the console; a server that tells none takes passwords. */
export const consoleConfig = {
  queryKey: ["console", "config"],
  staleTime: 60_000,
  queryFn: async (): Promise<ConsoleConfig> => {
    const answer = await send("console/config");
    return answer.ok ? ((await answer.json()) as ConsoleConfig) : passwordAlone;
  },
};

/** Who is signed in; 401 if nobody is. */
export const me = { ...ask(r.userinfo.get), staleTime: 60_000 };

/** Signs in with a password. Rejects with ApiError: 401 for a wrong name or password, 429 with the seconds to wait. */
export async function signIn(username: string, password: string): Promise<void> {
  const body = JSON.stringify({ username, password, kind: "browser" });
  const answer = await send("console/session", { method: "POST", headers: { "content-type": "application/json" }, body });
  if (answer.ok) return;
  const retryAfter = Number(answer.headers.get("retry-after") ?? Number.NaN);
  throw new ApiError({
    operation: "console.signIn",
    status: answer.status,
    body: {},
    requestId: answer.headers.get("x-request-id") ?? undefined,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
    expected: undefined,
  });
}

/** Ends the session on the server. */
export async function signOut(): Promise<void> {
  await send("console/session", { method: "DELETE" });
}

/** The address at which a provider signs in, and that leads back to a page of the console. */
export function providerUrl(issuer: string, to: string): string {
  const url = new URL(`console/auth/${encodeURIComponent(issuer)}`, server());
  url.searchParams.set("to", to);
  return url.href;
}

const server = () => new URL("..", document.baseURI);
