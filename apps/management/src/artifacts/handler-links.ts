import { type ArtifactRel, artifactRels, type LinkPattern, type LinkPlaceholder, parseArtifactLinks } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { encoded } from "@harrier/query";
import type { ArtifactRow } from "../rows/artifact.ts";
import { readLinkSettings } from "./artifacts.sql.ts";

export type HandlerLinks = Partial<Record<ArtifactRel, { href: string }>>;

/** These links of an artifact replace its download link here; undefined means that the tenant has no link that works without a device. */
export type LinkHandler = (artifact: Pick<ArtifactRow, "moduleId" | "filename" | "sha1">) => HandlerLinks;

/**
 * Returns the tenant's own artifact links (contract management.md §4.3, `useartifacturlhandler`; device.md §2.3) that are the same for
 * every device, for instance those of a mirror: a pattern with `{controllerId}` has no meaning for a user. It costs one round trip.
 */
export async function linkHandlerOf(
  deps: { db: Database },
  { tenantId, tenant, baseUrl }: { tenantId: number; tenant: string; baseUrl: string },
): Promise<LinkHandler | undefined> {
  const { links, host: own } = (await runOne(deps.db.pool, readLinkSettings, [tenantId])) ?? {};
  if (!links) return undefined;
  const patterns = parseArtifactLinks(links);
  const rels = artifactRels.filter((rel) => !patterns[rel].names.includes("controllerId"));
  if (rels.length === 0) return undefined;
  const host = own || baseUrl;
  return ({ moduleId, filename, sha1 }) => {
    const values = { download_url: host, tenant: encoded(tenant), moduleId: String(moduleId), filename: encoded(filename), sha1 };
    return Object.fromEntries(rels.map((rel) => [rel, { href: hrefOf(patterns[rel], values) }]));
  };
}

function hrefOf({ texts, names }: LinkPattern, values: Partial<Record<LinkPlaceholder, string>>): string {
  return names.reduce((href, name, n) => href + (values[name] ?? "") + texts[n + 1], texts[0] ?? "");
}
