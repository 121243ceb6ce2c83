/**
 * Where the sign-in leads to: a page of the console, never another site. After a sign-in at a provider that came to nothing the gateway names it from
 * the root of the host, so the console's own path, `base`, is taken away.
 */
export function safeTarget(to: string | undefined, base = ""): string {
  if (to === undefined || !/^\/(?![/\\])/.test(to)) return "/";
  const path = base !== "" && (to === base || to.startsWith(`${base}/`)) ? to.slice(base.length) : to;
  return !/^\/(?![/\\])/.test(path) || path.startsWith("/login") ? "/" : path;
}

/** Whether nobody else can read what is sent from this page. */
export function isPrivate(protocol: string, host: string): boolean {
  return protocol === "https:" || host === "localhost" || host === "[::1]" || /^127\./.test(host);
}
