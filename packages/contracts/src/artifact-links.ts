/** A device sees these links of an artifact (contract device.md §2.3). */
export const artifactRels = ["download", "md5sum", "download-http", "md5sum-http"] as const;
export type ArtifactRel = (typeof artifactRels)[number];

/** A pattern may contain these placeholders. Each is inserted as one encoded segment of a path, except `download_url`, which begins the address. */
export const linkPlaceholders = ["download_url", "tenant", "controllerId", "moduleId", "filename", "sha1"] as const;
export type LinkPlaceholder = (typeof linkPlaceholders)[number];

/** A parsed pattern: plain text and placeholders alternate, so `texts` is one longer than `names`. */
export interface LinkPattern {
  readonly texts: readonly string[];
  readonly names: readonly LinkPlaceholder[];
}

export type LinkPatterns = { readonly [rel in ArtifactRel]: LinkPattern };

const shapes = {
  classic: "{download_url}/api/v1/{tenant}/download/controller/{controllerId}/softwaremodules/{moduleId}/filename/{filename}",
  hawkbit: "{download_url}/{tenant}/controller/v1/{controllerId}/softwaremodules/{moduleId}/artifacts/{filename}",
} as const;

type ShapeName = keyof typeof shapes;
const isShape = (text: string): text is ShapeName => Object.hasOwn(shapes, text);
const isRel = (text: string): text is ArtifactRel => (artifactRels as readonly string[]).includes(text);
const isPlaceholder = (text: string): text is LinkPlaceholder => (linkPlaceholders as readonly string[]).includes(text);

/**
 * Reads a setting of artifact links: `classic`, `hawkbit`, or `<rel>=<pattern>` for some rels, separated by blanks. A pattern is one of the two
 * names or an address with placeholders, `https://cdn.example.com/{tenant}/{sha1}/{filename}`. Rels that are not named are classic; the default of
 * a checksum's link is that of its file with `.MD5SUM`. Throws an Error that says what is wrong.
 */
export function parseArtifactLinks(text: string): LinkPatterns {
  const given = isShape(text) ? { download: shapes[text], "download-http": shapes[text] } : readRels(text);
  const file = (rel: "download" | "download-http"): string => given[rel] ?? shapes.classic;
  const sum = (rel: "md5sum" | "md5sum-http", of: "download" | "download-http"): string => given[rel] ?? `${file(of)}.MD5SUM`;
  return {
    download: takeApart(file("download")),
    md5sum: takeApart(sum("md5sum", "download")),
    "download-http": takeApart(file("download-http")),
    "md5sum-http": takeApart(sum("md5sum-http", "download-http")),
  };
}

function readRels(text: string): Partial<Record<ArtifactRel, string>> {
  const given: Partial<Record<ArtifactRel, string>> = {};
  for (const item of text.trim().split(/\s+/)) {
    const [rel = "", ...rest] = item.split("=");
    const pattern = rest.join("=");
    if (!isRel(rel)) throw new Error(`'${item}' is neither classic, hawkbit nor <rel>=<pattern> with a rel of ${artifactRels.join(", ")}`);
    if (given[rel] !== undefined) throw new Error(`${rel} is given twice`);
    given[rel] = isShape(pattern) ? shapes[pattern] + (rel.startsWith("md5sum") ? ".MD5SUM" : "") : checked(pattern);
  }
  return given;
}

function checked(pattern: string): string {
  if (!/^(\{download_url\}|https?:\/\/[^\s{}/?#@]+)\/[^\p{Cc}#]+$/u.test(pattern))
    throw new Error(`'${pattern}' does not begin with {download_url}/ or http(s)://host/`);
  const { texts, names } = takeApart(pattern);
  const stray = texts.find((literal) => /[{}]/.test(literal));
  if (stray !== undefined) throw new Error(`'${pattern}' has braces around something else than ${linkPlaceholders.join(", ")}`);
  if (!names.includes("filename") && !names.includes("sha1")) throw new Error(`'${pattern}' has neither {filename} nor {sha1}`);
  return pattern;
}

function takeApart(pattern: string): LinkPattern {
  const texts: string[] = [];
  const names: LinkPlaceholder[] = [];
  let text = "";
  // texts and names of placeholders alternate
  for (const [i, piece] of pattern.split(/\{(\w+)\}/).entries()) {
    if (i % 2 === 0) text += piece;
    else if (isPlaceholder(piece)) {
      names.push(piece);
      texts.push(text);
      text = "";
    } else text += `{${piece}}`;
  }
  return { texts: [...texts, text], names };
}

/** Whether `{download_url}` may stand for this address: http(s), without a query and without a slash at its end. */
export function isDownloadUrl(text: string): boolean {
  return /^https?:\/\/[^\s{}/?#@]+(\/[^\s{}?#]*[^\s{}?#/])?$/.test(text) && URL.canParse(text);
}
