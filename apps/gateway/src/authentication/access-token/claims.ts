import type { JWTPayload } from "jose";
import type { Issuer } from "./issuers.ts";

/** What a verified token says. */
export interface TokenFacts {
  /** As the token spells it. */
  tenant: string;
  /** Who acts: the user, else the client. */
  subject: string;
  /** Name of the user it speaks for; empty: it speaks for none. */
  user: string;
  scopes: string[];
}

const controls = /\p{Cc}/u;
/** Names of tenants and users have as many characters at most. */
const longestName = 128;
const longestScope = longestName + "role:".length;

/** Reads the claims as its issuer means them; undefined where tenant or subject is missing, for then nobody is signed in. */
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

/** A claim by its name; where there is none of it, by its path: `realm_access.roles`. Names may hold points themselves, as URLs do. */
function claimOf(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/** A text, also alone in a list, as mappers of groups write it. */
function nameOf(value: unknown): string | undefined {
  const name = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof name === "string" && name !== "" && name.length <= longestName && !controls.test(name) ? name : undefined;
}

function firstName(claims: JWTPayload, names: readonly string[]): string | undefined {
  const present = names.map((name) => claimOf(claims, name)).find((value) => value !== undefined);
  return nameOf(present);
}

/** Of all claims together: words of a text with blanks between (RFC 9068 §2.2.3), elements of a list as they are. */
function scopesOf(claims: JWTPayload, names: readonly string[]): string[] {
  const words = names.flatMap((name) => {
    const value = claimOf(claims, name);
    return typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value : [];
  });
  const scopes = words.filter((word): word is string => typeof word === "string" && word !== "" && word.length <= longestScope);
  return [...new Set(scopes.filter((scope) => !controls.test(scope)))].sort();
}
