import { HarrierError } from "@harrier/errors";
import type { Storage } from "../storage/storage.ts";
import { contentDisposition } from "./disposition.ts";
import type { GivenLinks } from "./given-links.ts";
import { answerRange } from "./range.ts";
import type { Exchange, Sendable } from "./send.ts";

export interface RedirectDeps {
  readonly storage: Pick<Storage, "link" | "stat">;
  /** A link is good for so many seconds. */
  readonly linkSeconds: number;
  /** The links that devices have got already. */
  readonly given: Pick<GivenLinks, "take" | "release">;
  /** Called with the bytes that the link is good for: nobody tells how many of them are fetched. */
  readonly sent: (bytes: number) => void;
}

/** What a store would answer by its own ETag and time, which are not ours. */
const conditions = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"];
const oneRange = /^bytes=(\d+-\d*|-\d+)$/;

interface Redirected {
  readonly artifact: Sendable;
  /** The device that gets the link. */
  readonly device: { readonly tenantId: number; readonly controllerId: string };
  /** As for `sendArtifact`: it is called before the link to a whole file is given. */
  readonly onWhole: () => Promise<void> | undefined;
}

/**
 * Sends a device to the bucket (ADR 43), if the store makes links and would answer just as artifact-store does: the whole file or one range, without
 * conditions; and if the device has not had links to as many bytes as the file has. Otherwise it returns false, and the bytes go through artifact-store.
 */
export async function redirectToBucket(
  deps: RedirectDeps,
  { req, res }: Exchange,
  { artifact, device, onWhole }: Redirected,
): Promise<boolean> {
  const { link } = deps.storage;
  const { range } = req.headers;
  if (link === undefined || req.method !== "GET" || conditions.some((name) => req.headers[name] !== undefined)) return false;
  // no store has a range of an empty file, and several ranges in one answer few stores have
  if (artifact.size === 0 || (range !== undefined && !oneRange.test(range))) return false;
  const { key, size, sha1, filename, createdAt } = artifact;
  const answer = answerRange({ range, ifRange: undefined, size, etag: `"${sha1}"`, lastModified: createdAt });
  if (answer.kind === "unsatisfiable") return false;
  const [part] = answer.kind === "parts" ? answer.parts : [];
  const bytes = part === undefined ? size : part.end - part.start + 1;
  const wanted = { ...device, key, size };
  if (!deps.given.take(wanted, bytes)) return false;
  let location: string;
  try {
    await requireObject(deps.storage, artifact);
    if (answer.kind === "whole") await onWhole();
    const contentType = "application/octet-stream";
    location = await link(key, { seconds: deps.linkSeconds, range, contentType, contentDisposition: contentDisposition(filename) });
  } catch (error) {
    deps.given.release(wanted, bytes);
    throw error;
  }
  deps.sent(bytes);
  // a cache must not hand the link of one device to another
  res.writeHead(302, { location, "cache-control": "no-store", "content-length": 0 }).end();
  return true;
}

/** A lost object is our error, not a link to nothing. */
async function requireObject({ stat }: Pick<Storage, "stat">, { key, size }: Sendable): Promise<void> {
  if ((await stat(key))?.size !== size) throw new HarrierError("artifactLoadFailed");
}
