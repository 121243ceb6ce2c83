import { hash } from "node:crypto";

const revisionDigits = 8;
const digestDigits = 24;

/**
 * Makes the entity tag of an answer, which is of its bytes. With a `revision` it begins with it, so that `If-Match` can be checked against the row:
 * members that no request changes (the last poll, counts) make another tag, but not another revision (ADR 40).
 */
export function entityTagOf(content: string | Buffer, revision?: number): string {
  const digest = hash("md5", content);
  if (revision === undefined) return `"0${digest}"`;
  return `"0${revision.toString(16).padStart(revisionDigits, "0")}${digest.slice(0, digestDigits)}"`;
}

const ofRevision = new RegExp(`^(?:W/)?"0([0-9a-f]{${revisionDigits}})[0-9a-f]{${digestDigits}}"$`);

/** No row has this revision, so a header that names no tag of ours matches nothing. */
const noRevision = 0;

/**
 * Reads the revisions out of `If-Match`; undefined stands for no header, and for `*`, which any row matches. A weak prefix is tolerated, because
 * proxies that compress put it there.
 */
export function revisionsOf(header: string | undefined): readonly number[] | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  return header.split(",").map((tag) => {
    const digits = ofRevision.exec(tag.trim())?.[1];
    const revision = digits === undefined ? noRevision : Number.parseInt(digits, 16);
    return revision <= 0x7fff_ffff ? revision : noRevision;
  });
}

/**
 * Makes what stands for the revision of something that has none of its own (a setting, a limit, a metadata entry): 31 bits of a hash of what a change
 * would overwrite, so it is another one as soon as that is.
 */
export function revisionOfContent(...content: unknown[]): number {
  const bits = Number.parseInt(hash("sha256", JSON.stringify(content)).slice(0, 8), 16) & 0x7fff_ffff;
  return bits === 0 ? 1 : bits; // no tag has the revision 0
}
