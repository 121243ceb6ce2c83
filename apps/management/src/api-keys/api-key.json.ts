import type { ApiKeyView } from "@harrier/contracts";
import { optional } from "@harrier/query";
import type { ApiKeyRow } from "./api-keys.sql.ts";

/** Renders a key without its secret (spec 000 §4.3); it is the same in both dialects. */
export function apiKeyJson({ id, name, description, expiresAt, lastUsedOn }: ApiKeyRow): ApiKeyView {
  return { id, name, ...optional("description", description), expiresAt, ...optional("lastUsedOn", lastUsedOn) };
}
