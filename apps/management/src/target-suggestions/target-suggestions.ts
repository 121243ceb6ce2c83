import type { SuggestField, TargetSuggestions } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { scopeOf } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import { type SuggestedKind, suggest, suggestInScope } from "./target-suggestions.sql.ts";

/**
 * Suggests values of a field of target queries that begin with a text (contract console.md §1, M13): those that targets which the caller may see
 * have, each once, in the order of their folded form.
 */
export async function suggestValues(
  deps: { db: Database },
  identity: Pick<Identity, "tenantId" | "targetTypeScopes">,
  { field, prefix, limit }: { field: SuggestField; prefix: string; limit: number },
): Promise<TargetSuggestions> {
  const scope = scopeOf(identity, "READ_TARGET");
  const { kind, key } = kindOf(field);
  const statements = scope === null ? suggest : suggestInScope;
  const rows = await run(deps.db.pool, statements[kind], [identity.tenantId, prefix, key, limit, scope]);
  const values = rows.flatMap(({ value }) => value ?? []);
  return { values: values.slice(0, limit), more: values.length > limit || rows.some(({ cut }) => cut) };
}

function kindOf(field: SuggestField): { kind: SuggestedKind; key: string | null } {
  if (field === "attribute") return { kind: "attributeKeys", key: null };
  if (field === "metadata") return { kind: "metadataKeys", key: null };
  if (field.startsWith("attribute.")) return { kind: "attributeValues", key: field.slice("attribute.".length) };
  if (field.startsWith("metadata.")) return { kind: "metadataValues", key: field.slice("metadata.".length) };
  return { kind: field as SuggestedKind, key: null };
}
