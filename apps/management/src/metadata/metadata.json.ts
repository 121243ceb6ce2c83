import type { MetadataView, ModuleMetadataView } from "@harrier/contracts";
import { optional } from "@harrier/query";
import type { MetadataRow } from "./metadata.sql.ts";

/** Renders a metadata entry of a set (spec 001 §2.2). */
export function metadataJson({ key, value }: MetadataRow): MetadataView {
  return { key, ...optional("value", value) };
}

/** Renders a metadata entry of a module (spec 001 §2.3). */
export function moduleMetadataJson(row: MetadataRow): ModuleMetadataView {
  return { ...metadataJson(row), targetVisible: row.targetVisible === true };
}
