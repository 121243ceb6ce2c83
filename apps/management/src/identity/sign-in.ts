import { type Queryable, runCount, runOne } from "@harrier/db";
import type { SignInRequest, SignInResponse } from "@harrier/rpc";
import type { Limiter } from "@harrier/service";
import { noGrants } from "../grants/grants.ts";
import { hashPassword, isWeakHash, verifyPassword } from "../users/password.ts";
import { allowed } from "./allowed.ts";
import { findUser, replaceHash, type SignInRow } from "./sign-in.sql.ts";

interface Deps {
  db: Queryable;
  /** A name without a tenant belongs to this tenant. */
  defaultTenant: string;
  /** A hash costs a quarter of a second and 16 MB, an imported one up to ten times that, so the concurrency is limited. */
  hashing: Pick<Limiter, "run">;
}

const controls = /\p{Cc}/u;

/**
 * Verifies an administrator by `user` or `tenant\user` and password (contract management.md §1.1). An unknown name costs the same work as a
 * wrong password, and both get the same answer. So does a name or password with control characters, which neither may have: PostgreSQL does
 * not accept a NUL in a text, and the hash of a password ignores one at its end.
 */
export async function signIn(deps: Deps, request: SignInRequest): Promise<SignInResponse> {
  const { tenant, name } = splitName(request.username, deps.defaultTenant);
  const possible = !controls.test(request.username) && !controls.test(request.password);
  const user = possible ? await runOne(deps.db, findUser, [tenant, name]) : undefined;
  const ok = await deps.hashing.run(() => verifyPassword(request.password, user?.passwordHash));
  const revision = user?.revision ?? 0;
  if (!ok || user === undefined) return { ok: false, ...nobody, revision };
  if (isWeakHash(user.passwordHash ?? "", request.password)) await strengthen(deps, user, request.password);
  const { permissions, scoped } = user;
  return {
    ok: true,
    tenantId: user.tenantId ?? 0,
    tenant: user.tenant ?? "",
    subject: user.name ?? "",
    ...allowed(permissions && scoped ? { permissions, scoped } : noGrants),
    revision,
    userId: user.userId ?? 0,
    generation: user.generation ?? 0,
  };
}

/**
 * Hashes the password anew where the stored hash is cheaper to try than a current one: only at the sign-in is the password known. The user
 * stays signed in and is told nothing.
 */
async function strengthen(deps: Deps, user: Partial<SignInRow>, password: string): Promise<void> {
  const { tenantId = 0, userId = 0, passwordHash = null } = user;
  try {
    const hash = await deps.hashing.run(() => hashPassword(password));
    await runCount(deps.db, replaceHash, [tenantId, userId, passwordHash, hash]);
  } catch {
    // The old hash is still good, and the next sign-in tries again.
  }
}

const nobody = { tenantId: 0, tenant: "", subject: "", permissions: [], userId: 0, targetTypeScopes: {}, generation: 0 };

function splitName(username: string, defaultTenant: string): { tenant: string; name: string } {
  const at = username.indexOf("\\");
  return at < 0 ? { tenant: defaultTenant, name: username } : { tenant: username.slice(0, at), name: username.slice(at + 1) };
}
