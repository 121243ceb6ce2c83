import type { JWTPayload } from "jose";
import type { Issuer } from "./issuers.ts";

/** The claims of a verified token. */
export interface TokenFacts {
  /** The tenant as the token spells it. */
  tenant: string;
  /** The actor: the user, else the client. */
  subject: string;
  /** The name of its user; empty if it has none. */
  user: string;
  scopes: string[];
}

const controls = /\p{Cc}/u;
/** Names of tenants and users have at most this many characters. */
const maxNameLength = 128;
const maxScopeLength = maxNameLength + "role:".length;

/** Reads the claims as configured for its issuer; undefined where tenant or subject is missing, so that the sign-in fails. */
export function readClaims(issuer: Issuer, claims: JWTPayload): TokenFacts | undefined {
  const tenant = tenantOf(issuer, claims);
  const user = issuer.userClaims.length === 0 ? "" : firstName(claims, issuer.userClaims);
  const subject = issuer.userClaims.length === 0 ? firstName(claims, ["sub"]) : user;
  if (tenant === undefined || subject === undefined || user === undefined) return undefined;
  return { tenant, subject, user, scopes: scopesOf(claims, issuer.scopeClaims) };
}

function tenantOf({ tenant }: Issuer, claims: JWTPayload): string | undefined {
  if ("fixed" in tenant) return tenant.fixed;
  const named = nameOf(claimOf(claims, tenant.claim));
  return tenant.only === undefined || tenant.only.includes(named?.toUpperCase() ?? "") ? named : undefined;
}

/** Finds a claim by its name; if there is none, by its path: `realm_access.roles`. Names may contain dots themselves, as URLs do. */
function claimOf(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/** Reads a text, also as the only element of a list, as mappers of groups write it. */
function nameOf(value: unknown): string | undefined {
  const name = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof name === "string" && name !== "" && name.length <= maxNameLength && !controls.test(name) ? name : undefined;
}

function firstName(claims: JWTPayload, names: readonly string[]): string | undefined {
  const present = names.map((name) => claimOf(claims, name)).find((value) => value !== undefined);
  return nameOf(present);
}

/** Reads the scopes of all claims together: words of a text with blanks between (RFC 9068 §2.2.3), elements of a list as they are. */
function scopesOf(claims: JWTPayload, names: readonly string[]): string[] {
  const words = names.flatMap((name) => {
    const value = claimOf(claims, name);
    return typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value : [];
  });
  const scopes = words.filter((word): word is string => typeof word === "string" && word !== "" && word.length <= maxScopeLength);
  return [...new Set(scopes.filter((scope) => !controls.test(scope)))].sort();
}
