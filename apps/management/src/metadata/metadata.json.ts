import type { MetadataView, ModuleMetadataView } from "@harrier/contracts";
import { optional } from "../lists/json.ts";
import type { MetadataRow } from "./metadata.sql.ts";

/** spec 001 §2.2. */
export function metadataJson({ key, value }: MetadataRow): MetadataView {
  return { key, ...optional("value", value) };
}

/** spec 001 §2.3. */
export function moduleMetadataJson(row: MetadataRow): ModuleMetadataView {
  return { ...metadataJson(row), targetVisible: row.targetVisible === true };
}
