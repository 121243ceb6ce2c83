import { themeKey } from "../shell/theme.ts";
import { ask, r, refusalOf, send, server } from "./client.ts";
import { forgetDrafts } from "./drafts.ts";

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
  if (!answer.ok) throw await refusalOf("console.signIn", answer);
  tabs.postMessage(null);
}

/**
 * Ends the session on the server, which lets the browser forget what the console keeps in it; the theme stays. Rejects with ApiError where the server
 * has not ended it.
 */
export async function signOut(): Promise<void> {
  const theme = localStorage.getItem(themeKey);
  const answer = await send("console/session", { method: "DELETE" });
  if (!answer.ok && answer.status !== 401) throw await refusalOf("console.signOut", answer);
  tabs.postMessage(null);
  forgetDrafts();
  localStorage.removeItem(issuerKey);
  if (theme !== null) localStorage.setItem(themeKey, theme);
}

/** Tells the other tabs that somebody has signed in by password or out: what they show is that of whoever was signed in before, so they begin anew. */
const tabs = new BroadcastChannel("harrier-session");
tabs.onmessage = () => location.reload();

/** The provider at which people last signed in with this browser, and that this tab has asked it again without a word to the user. */
const issuerKey = "harrier-issuer";
const silentKey = "harrier-silent";

let leaving = false;
/** Whoever is still here after so long has stayed, in milliseconds. */
const stayedMs = 10_000;

/** Remembers where somebody signs in; undefined for a password. */
export function rememberIssuer(issuer: string | undefined): void {
  if (issuer === undefined) localStorage.removeItem(issuerKey);
  else localStorage.setItem(issuerKey, issuer);
}

/** Somebody is signed in: when that ends, the provider may be asked again. */
export const signedIn = (): void => sessionStorage.removeItem(silentKey);

/**
 * Sends the browser to the provider at which the session was opened, which answers at once where the user is still signed in there. It is tried once;
 * then the page of the sign-in is shown. Answers whether the browser is on its way.
 */
export function signInSilently(to: string): boolean {
  if (leaving) return true;
  const issuer = localStorage.getItem(issuerKey);
  if (issuer === null || sessionStorage.getItem(silentKey) !== null) return false;
  sessionStorage.setItem(silentKey, "asked");
  leaving = true;
  // A page with something unsaved may ask whether to leave, and the answer may be no.
  setTimeout(() => {
    leaving = false;
  }, stayedMs);
  location.assign(providerUrl(issuer, to, true));
  return true;
}

/** The address at which a provider signs in, and that leads back to a page of the console. */
export function providerUrl(issuer: string, to: string, silent = false): string {
  const url = new URL(`console/auth/${encodeURIComponent(issuer)}`, server);
  url.searchParams.set("to", to);
  if (silent) url.searchParams.set("prompt", "none");
  return url.href;
}
