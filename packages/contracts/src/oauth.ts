/** Addresses of the service's own token endpoint (spec 000 §5.2; contract extensions.md). They need no sign-in, and no base path. */
export const oauthPaths = {
  token: "/oauth2/token",
  jwks: "/oauth2/jwks",
  discovery: "/.well-known/openid-configuration",
} as const;

/** Scope of a client that may do everything within its tenant's management (spec 000 §4.3). */
export const managementScope = "management-full-access";
/** Scope of a client that speaks for every device of its tenant (contract device.md §9, row 5). */
export const deviceScope = "device-full-access";
const rolePrefix = "role:";

/** Together, with blanks between them: a token must fit into a header. */
export const longestScopes = 1_500;

/** What a scope stands for. */
export type ScopeMeaning =
  | { kind: "management" }
  | { kind: "device" }
  | { kind: "role"; name: string }
  | { kind: "permission"; name: string };

// RFC 6749 §3.3
const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/**
 * What a scope of one of our clients stands for (contract extensions.md); undefined: it is none. `role:<name>` carries what RFC 6749 allows
 * in no scope (blanks, quotes, other alphabets), and a percent sign, percent-encoded: `role:Night%20shift`.
 */
export function meaningOfScope(scope: string): ScopeMeaning | undefined {
  if (!scopeToken.test(scope)) return undefined;
  if (scope === managementScope) return { kind: "management" };
  if (scope === deviceScope) return { kind: "device" };
  if (!scope.startsWith(rolePrefix)) return /^[A-Z_]{1,64}$/.test(scope) ? { kind: "permission", name: scope } : undefined;
  const name = decoded(scope.slice(rolePrefix.length));
  return name === undefined || name === "" || name.length > 128 || name.includes("\u0000") ? undefined : { kind: "role", name };
}

/** Whether a text can be a scope of a client; whether its role or permission is there is another question. */
export function isScope(text: string): boolean {
  return meaningOfScope(text) !== undefined;
}

/** The scope that stands for a role. */
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
