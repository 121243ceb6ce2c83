import { statement } from "@harrier/db";

export interface SignInRow {
  tenantId: number;
  tenant: string;
  userId: number;
  name: string;
  passwordHash: string | null;
  /** It counts the user's passwords. */
  generation: number;
  permissions: string[];
  scoped: Record<string, number[]>;
}

/** Reads the user of a name, and the snapshot that was read: changes below `revision` were seen. There is always one row. */
export const findUser = statement<[tenant: string, name: string], Partial<SignInRow> & { revision: number }>(
  "management.find_user",
  `select s.revision, u.*
     from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as revision) s
     left join (select t.tenant_id as "tenantId", t.name as tenant, u.id as "userId", u.name, u.password_hash as "passwordHash",
                       u.permissions, u.scoped_permissions as scoped, u.generation
                  from tenants t join users u on u.tenant_id = t.tenant_id
                 where lower(t.name) = lower($1) and t.status = 'active' and u.name = $2) u on true`,
);

/** Stores another hash of the same password, unless the password has changed meanwhile; gateways need no notification. */
export const replaceHash = statement<[tenantId: number, userId: number, old: string | null, hash: string], unknown>(
  "management.replace_hash",
  "update users set password_hash = $4 where tenant_id = $1 and id = $2 and password_hash = $3",
);
