import type { IncomingMessage } from "node:http";
import { HarrierError } from "@harrier/errors";
import { isSessionId } from "./session-id.ts";

/**
 * Names the cookie by how the browser came: `__Host-` makes it take the cookie from this very host alone, over TLS, so that no other host of the
 * domain can plant one. Over plain http browsers do not take such names.
 */
export const cookieName = (secure: boolean): string => (secure ? "__Host-harrier" : "harrier_session");

const attributes = (secure: boolean): string => `Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;

/** Returns the Set-Cookie of a session that ends at `expiresAt` (epoch ms). */
export function sessionCookie(id: string, secure: boolean, { expiresAt, now }: { expiresAt: number; now: number }): string {
  const seconds = Math.max(0, Math.ceil((expiresAt - now) / 1_000));
  return `${cookieName(secure)}=${id}; Max-Age=${seconds}; ${attributes(secure)}`;
}

/** Returns the Set-Cookie that removes it. */
export const clearedCookie = (secure: boolean): string => `${cookieName(secure)}=; Max-Age=0; ${attributes(secure)}`;

/** Reads the session's id from the Cookie header; undefined if there is none that can be one. */
export function readSessionCookie(header: string | undefined, secure: boolean): string | undefined {
  if (header === undefined) return undefined;
  const start = `${cookieName(secure)}=`;
  for (const pair of header.split(";")) {
    const text = pair.trim();
    if (text.startsWith(start)) return isSessionId(text.slice(start.length)) ? text.slice(start.length) : undefined;
  }
  return undefined;
}

const readsOnly: ReadonlySet<string | undefined> = new Set(["GET", "HEAD"]);

/**
 * Throws insufficientPermission for a change that another site may have made a browser send: with a cookie alone it is not known who wanted it. The
 * header cannot be sent across origins without a permission (CORS) that is never given, and Sec-Fetch-Site cannot be written by a page.
 */
export function checkOrigin({ method, headers }: Pick<IncomingMessage, "method" | "headers">): void {
  if (readsOnly.has(method)) return;
  if (headers["x-harrier-console"] !== "1" || !isSameOrigin(headers["sec-fetch-site"])) throw foreign();
}

/** Says whether the page that sent a request is our own, or the client is no page. */
export const isSameOrigin = (site: string | string[] | undefined): boolean =>
  site === undefined || site === "same-origin" || site === "none";

const foreign = () =>
  new HarrierError("insufficientPermission", "A change by session cookie needs the header x-harrier-console: 1 from the same origin.");
