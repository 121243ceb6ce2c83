import type { SearchView } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { scopeOf } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import { type FoundKind, type FoundRow, findEntities } from "./search.sql.ts";

/** The permission to read each kind: that of its list. */
const permissionOf: Readonly<Record<FoundKind, string>> = {
  targets: "READ_TARGET",
  distributionSets: "READ_REPOSITORY",
  softwareModules: "READ_REPOSITORY",
  rollouts: "READ_ROLLOUT",
  targetFilters: "READ_TARGET",
  targetTags: "READ_TARGET",
  distributionSetTags: "READ_REPOSITORY",
};

const kinds = Object.keys(permissionOf) as FoundKind[];

/**
 * Finds what begins with a text, at most `limit` of each kind that the caller may read (contract console.md §3). A caller who is restricted to
 * target types finds the targets and rollouts that their lists show.
 */
export async function searchEntities(
  deps: { db: Pick<Database, "pool"> },
  caller: Pick<Identity, "tenantId" | "permissions" | "targetTypeScopes">,
  { text, limit }: { text: string; limit: number },
): Promise<SearchView> {
  const readable = kinds.filter((kind) => caller.permissions.includes(permissionOf[kind]));
  if (readable.length === 0) return {};
  const rows = await run(deps.db.pool, findEntities, [caller.tenantId, text, readable, limit, scopeOf(caller, "READ_TARGET")]);
  return Object.fromEntries(readable.map((kind) => [kind, rows.filter((row) => row.kind === kind).map(foundJson)]));
}

function foundJson({ kind, id, name, version }: FoundRow) {
  if (kind === "targets") return { controllerId: id, name };
  return { id: Number(id), name, ...(version !== null && { version }) };
}
