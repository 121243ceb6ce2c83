import { type Queryable, runOne } from "@harrier/db";
import type { SignInRequest, SignInResponse } from "@harrier/rpc";
import type { Turns } from "@harrier/service";
import { noGrants } from "../grants/grants.ts";
import { verifyPassword } from "../users/password.ts";
import { allowed } from "./allowed.ts";
import { findUser } from "./sign-in.sql.ts";

interface Deps {
  db: Queryable;
  /** Tenant of names without one. */
  defaultTenant: string;
  /** A hash costs 50 ms and 16 MB, one that somebody brought up to ten times that: only so many at once. */
  hashing: Pick<Turns, "run">;
}

const controls = /\p{Cc}/u;

/**
 * Verifies an administrator by `user` or `tenant\user` and password (contract management.md §1.1). An unknown name costs the same work
 * as a wrong password, and both get the same answer. So does one with control characters, which are no part of a name or a password: to
 * PostgreSQL a NUL is no text, and to the password's hash one at the end is not there.
 */
export async function signIn(deps: Deps, request: SignInRequest): Promise<SignInResponse> {
  const { tenant, name } = splitName(request.username, deps.defaultTenant);
  const possible = !controls.test(request.username) && !controls.test(request.password);
  const user = possible ? await runOne(deps.db, findUser, [tenant, name]) : undefined;
  const ok = await deps.hashing.run(() => verifyPassword(request.password, user?.passwordHash));
  const revision = user?.revision ?? 0;
  if (!ok || user === undefined) return { ok: false, ...nobody, revision };
  const { permissions, scoped } = user;
  return {
    ok: true,
    tenantId: user.tenantId ?? 0,
    tenant: user.tenant ?? "",
    subject: user.name ?? "",
    ...allowed(permissions && scoped ? { permissions, scoped } : noGrants),
    revision,
    userId: user.userId ?? 0,
  };
}

const nobody = { tenantId: 0, tenant: "", subject: "", permissions: [], userId: 0, targetTypeScopes: {} };

function splitName(username: string, defaultTenant: string): { tenant: string; name: string } {
  const at = username.indexOf("\\");
  return at < 0 ? { tenant: defaultTenant, name: username } : { tenant: username.slice(0, at), name: username.slice(at + 1) };
}
