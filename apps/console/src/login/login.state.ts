/** Where the sign-in leads to: a page of the console, never another site. */
export function safeTarget(to: string | undefined): string {
  if (to === undefined || !/^\/(?![/\\])/.test(to) || to.startsWith("/login")) return "/";
  return to;
}

/** Whether nobody else can read what is sent from this page. */
export function isPrivate(protocol: string, host: string): boolean {
  return protocol === "https:" || host === "localhost" || host === "[::1]" || /^127\./.test(host);
}
