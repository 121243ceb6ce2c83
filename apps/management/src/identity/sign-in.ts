import { type Queryable, runOne } from "@harrier/db";
import type { SignInRequest, SignInResponse } from "@harrier/rpc";
import { verifyPassword } from "../users/password.ts";
import { withImplied } from "./permissions.ts";
import { findUser } from "./sign-in.sql.ts";

interface Deps {
  db: Queryable;
  /** Tenant of names without one. */
  defaultTenant: string;
}

/**
 * Verifies an administrator by `user` or `tenant\user` and password (contract management.md §1.1). An unknown name costs the same work
 * as a wrong password, and both get the same answer.
 */
export async function signIn(deps: Deps, request: SignInRequest): Promise<SignInResponse> {
  const { tenant, name } = splitName(request.username, deps.defaultTenant);
  const user = await runOne(deps.db, findUser, [tenant, name]);
  const ok = await verifyPassword(request.password, user?.passwordHash);
  const revision = user?.revision ?? 0;
  if (!ok || user === undefined) return { ok: false, tenantId: 0, tenant: "", subject: "", permissions: [], revision, userId: 0 };
  return {
    ok: true,
    tenantId: user.tenantId ?? 0,
    tenant: user.tenant ?? "",
    subject: user.name ?? "",
    permissions: withImplied(user.permissions ?? []),
    revision,
    userId: user.userId ?? 0,
  };
}

function splitName(username: string, defaultTenant: string): { tenant: string; name: string } {
  const at = username.indexOf("\\");
  return at < 0 ? { tenant: defaultTenant, name: username } : { tenant: username.slice(0, at), name: username.slice(at + 1) };
}
