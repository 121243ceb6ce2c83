import type { ArtifactView } from "@harrier/contracts";
import { auditOf, type View } from "@harrier/query";
import type { ArtifactRow } from "../rows/artifact.ts";
import type { LinkHandler } from "./handler-links.ts";

/**
 * Renders an artifact (spec 001 §2.3). The download link is left out in compact lists and for deleted modules, whose bytes are gone
 * (contract management.md §1.4); `handler` gives other links in its place.
 */
export function artifactJson({ base }: View, row: ArtifactRow, withDownload: boolean, handler?: LinkHandler): ArtifactView {
  const self = `${base}/softwaremodules/${row.moduleId}/artifacts/${row.id}`;
  const download = handler === undefined ? { download: { href: `${self}/download` } } : handler(row);
  return {
    ...auditOf(row),
    id: row.id,
    hashes: { sha1: row.sha1, md5: row.md5, sha256: row.sha256 },
    providedFilename: row.filename,
    size: row.size,
    _links: { self: { href: self }, ...(withDownload ? download : {}) },
  };
}
