import { type LinkPattern, type LinkPlaceholder, parseArtifactLinks } from "@harrier/contracts";
import { LRUCache } from "lru-cache";
import type { TenantSettingsCache } from "../settings/tenant-settings.ts";

type Values = { readonly [name in LinkPlaceholder]: string };
type Written = { readonly href: string };

/** The four links of one artifact. */
export interface WrittenLinks {
  readonly download: Written;
  readonly md5sum: Written;
  readonly "download-http": Written;
  readonly "md5sum-http": Written;
}

/** Says how the artifacts of a tenant are linked. */
export interface ArtifactLinks {
  /** The address for downloads; undefined: the one that the device called. */
  readonly host: string | undefined;
  write(values: Values): WrittenLinks;
}

export interface ArtifactLinkSettings {
  of(tenantId: number): ArtifactLinks;
}

/** These apply where a tenant has stored nothing: HARRIER_ARTIFACT_LINKS and HARRIER_DOWNLOAD_URL. */
export interface InstallationLinks {
  readonly links: string;
  readonly host: string | undefined;
}

/**
 * Builds artifact links by the settings of the installation and its tenants (contract device.md §2.3). Patterns are parsed once and not for every
 * device; tenants with equal settings share them.
 */
export function createArtifactLinks(settings: Pick<TenantSettingsCache, "get">, installation: InstallationLinks): ArtifactLinkSettings {
  const known = new LRUCache<string, ArtifactLinks>({ max: 1_000 });
  const usual = artifactLinks(installation.links, installation.host);
  return {
    of(tenantId) {
      const stored = settings.get(tenantId);
      const [links, host] = [stored["artifact.links"], stored["artifact.links.host"]];
      if (links === "" && host === "") return usual;
      const key = `${links}\n${host}`;
      const found = known.get(key) ?? readable(links || installation.links, host || installation.host);
      known.set(key, found);
      return found;
    },
  };
}

/** Settings are checked before they are stored; should one be unreadable nevertheless, it must not keep devices from their updates. */
function readable(links: string, host: string | undefined): ArtifactLinks {
  try {
    return artifactLinks(links, host);
  } catch {
    return artifactLinks("classic", host);
  }
}

export function artifactLinks(text: string, host?: string): ArtifactLinks {
  const patterns = parseArtifactLinks(text);
  const [file, sum] = [writer(patterns.download), writer(patterns.md5sum)];
  const alike = same(patterns.download, patterns["download-http"]) && same(patterns.md5sum, patterns["md5sum-http"]);
  const [fileHttp, sumHttp] = [writer(patterns["download-http"]), writer(patterns["md5sum-http"])];
  return {
    host,
    write(values) {
      const [download, md5sum] = [file(values), sum(values)];
      if (alike) return { download, md5sum, "download-http": download, "md5sum-http": md5sum };
      return { download, md5sum, "download-http": fileHttp(values), "md5sum-http": sumHttp(values) };
    },
  };
}

function same(a: LinkPattern, b: LinkPattern): boolean {
  return a.texts.join("\n") === b.texts.join("\n") && a.names.join() === b.names.join();
}

function writer({ texts, names }: LinkPattern): (values: Values) => Written {
  return (values) => {
    let href = texts[0] as string;
    for (let i = 0; i < names.length; i += 1) href += values[names[i] as LinkPlaceholder] + texts[i + 1];
    return { href };
  };
}
