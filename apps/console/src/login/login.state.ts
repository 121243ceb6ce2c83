/**
 * Where the sign-in leads to: a page of the console, never another site. After a sign-in at a provider that came to nothing the gateway names it from
 * the root of the host, so the console's own path, `base`, is taken away.
 */
export function safeTarget(to: string | undefined, base = ""): string {
  if (to === undefined || !/^\/(?![/\\])/.test(to)) return "/";
  // a browser leaves out what `..` takes back, and so may come to a page that is none of the console
  if (/[/\\](\.|%2e){1,2}([/\\]|$)/i.test(to.replace(/[?#].*/s, ""))) return "/";
  const path = base !== "" && (to === base || to.startsWith(`${base}/`)) ? to.slice(base.length) : to;
  return !/^\/(?![/\\])/.test(path) || path.startsWith("/login") ? "/" : path;
}

/** Whether nobody else can read what is sent from this page. */
export function isPrivate(protocol: string, host: string): boolean {
  return protocol === "https:" || host === "localhost" || host === "[::1]" || /^127\./.test(host);
}
