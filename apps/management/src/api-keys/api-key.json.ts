import type { ApiKeyView } from "@harrier/contracts";
import { optional } from "../lists/json.ts";
import type { ApiKeyRow } from "./api-keys.sql.ts";

/** A key without its secret (spec 000 §4.3), the same in both dialects. */
export function apiKeyJson({ id, name, description, expiresAt, lastUsedOn }: ApiKeyRow): ApiKeyView {
  return { id, name, ...optional("description", description), expiresAt, ...optional("lastUsedOn", lastUsedOn) };
}
