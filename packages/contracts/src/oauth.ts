/** The addresses of the service's own token endpoint (spec 000 §5.2; contract extensions.md). They need no sign-in and have no base path. */
export const oauthPaths = {
  token: "/oauth2/token",
  jwks: "/oauth2/jwks",
  discovery: "/.well-known/openid-configuration",
} as const;

/** A client with this scope may do everything within its tenant's management (spec 000 §4.3). */
export const managementScope = "management-full-access";
/** A client with this scope may act as every device of its tenant (contract device.md §9, row 5). */
export const deviceScope = "device-full-access";
const rolePrefix = "role:";

/** All scopes with the blanks between them have at most so many characters, because a token must fit into a header. */
export const maxScopesLength = 1_500;

/** The meaning of a scope. */
export type ScopeMeaning =
  | { kind: "management" }
  | { kind: "device" }
  | { kind: "role"; name: string }
  | { kind: "permission"; name: string };

// RFC 6749 §3.3 allows these characters
const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/**
 * Answers the meaning of a scope of one of our clients (contract extensions.md); undefined if it is none. In `role:<name>` a percent sign and
 * everything that RFC 6749 allows in no scope (blanks, quotes, other alphabets) is percent-encoded: `role:Night%20shift`.
 */
export function meaningOfScope(scope: string): ScopeMeaning | undefined {
  if (!scopeToken.test(scope)) return undefined;
  if (scope === managementScope) return { kind: "management" };
  if (scope === deviceScope) return { kind: "device" };
  if (!scope.startsWith(rolePrefix)) return /^[A-Z_]{1,64}$/.test(scope) ? { kind: "permission", name: scope } : undefined;
  const name = decoded(scope.slice(rolePrefix.length));
  return name === undefined || name === "" || name.length > 128 || name.includes("\u0000") ? undefined : { kind: "role", name };
}

/** Whether a text can be a scope of a client; it does not check that the role or permission exists. */
export function isScope(text: string): boolean {
  return meaningOfScope(text) !== undefined;
}

/** Answers the scope that stands for a role. */
export function scopeOfRole(name: string): string {
  return rolePrefix + encodeURIComponent(name);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
