import { HarrierError } from "@harrier/errors";
import type { Storage } from "../storage/storage.ts";
import { contentDisposition } from "./disposition.ts";
import { answerRange } from "./range.ts";
import type { Exchange, Sendable } from "./send.ts";

export interface RedirectDeps {
  readonly storage: Pick<Storage, "link" | "stat">;
  /** A link is good for so many seconds. */
  readonly linkSeconds: number;
  /** Called with the bytes that the link is good for: nobody tells how many of them are fetched. */
  readonly sent: (bytes: number) => void;
}

/** What a store would answer by its own ETag and time, which are not ours. */
const conditions = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"];
const oneRange = /^bytes=(\d+-\d*|-\d+)$/;

/**
 * Sends a device to the bucket (ADR 43), if the store makes links and would answer just as artifact-store does: the whole file or one range, without
 * conditions. Otherwise it returns false, and the bytes go through artifact-store.
 * @param onWhole As for `sendArtifact`: it is called before the link to a whole file is given.
 */
export async function redirectToBucket(
  deps: RedirectDeps,
  { req, res }: Exchange,
  { artifact, onWhole }: { readonly artifact: Sendable; readonly onWhole: () => Promise<void> | undefined },
): Promise<boolean> {
  const { link, stat } = deps.storage;
  const { range } = req.headers;
  if (link === undefined || req.method !== "GET" || conditions.some((name) => req.headers[name] !== undefined)) return false;
  // no store has a range of an empty file, and several ranges in one answer few stores have
  if (artifact.size === 0 || (range !== undefined && !oneRange.test(range))) return false;
  const { size, sha1, filename, createdAt } = artifact;
  const answer = answerRange({ range, ifRange: undefined, size, etag: `"${sha1}"`, lastModified: createdAt });
  if (answer.kind === "unsatisfiable") return false;
  // a lost object is our error, not a link to nothing
  if ((await stat(artifact.key))?.size !== size) throw new HarrierError("artifactLoadFailed");
  if (answer.kind === "whole") await onWhole();
  const location = await link(artifact.key, {
    seconds: deps.linkSeconds,
    range,
    contentType: "application/octet-stream",
    contentDisposition: contentDisposition(filename),
  });
  const [part] = answer.kind === "parts" ? answer.parts : [];
  deps.sent(part === undefined ? size : part.end - part.start + 1);
  // a cache must not hand the link of one device to another
  res.writeHead(302, { location, "cache-control": "no-store", "content-length": 0 }).end();
  return true;
}
