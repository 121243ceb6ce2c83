import type { ArtifactView } from "@harrier/contracts";
import { ApiError, change, r, refusalOf, send } from "../api/client.ts";
import { uploads as t } from "../text/en.ts";
import { sha256Of } from "./hash.ts";
import { partOf } from "./upload.state.ts";

/** A part is tried so often when its connection breaks, with a pause that doubles. */
const tries = 6;
const firstPauseMs = 500;

/** A server that still reads the file that is complete is asked again for so long. */
const completeMs = 600_000;

interface UploadSteps {
  /** The upload has begun, or goes on. */
  readonly onOpened: (uploadId: string) => void;
  /** The server has nothing more to keep of it: it is finished, given up, or refused for good. */
  readonly onEnded: (uploadId: string) => void;
  /** So many bytes are stored by the server. */
  readonly onOffset: (offset: number) => void;
  readonly onHashing: () => void;
  /** The connection broke (true), and is there again (false). */
  readonly onBroken: (broken: boolean) => void;
  /** Resolves when the upload may go on; it is asked before each part. */
  readonly gate: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** An error that says that the server does not take the file, whoever sends it and when. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.status < 500 && ![401, 403, 409, 429].includes(error.status);

/**
 * Sends a file in parts and hashes it meanwhile; with the id of an upload that was begun before, what is missing of it. A part whose connection breaks goes on at the offset that the server has; an abort gives the upload
 * up. Answers the artifact and the hash of the file.
 */
export async function uploadFile(
  moduleId: number,
  file: File,
  { resumed, ...steps }: UploadSteps & { readonly resumed?: string | undefined },
): Promise<{ artifact: ArtifactView; sha256: string | undefined }> {
  if (file.size === 0) throw new Error(t.empty);
  const hash = sha256Of(file, steps.signal);
  const opened =
    resumed === undefined
      ? await change(r.artifactUploads.open, { params: { softwareModuleId: moduleId }, body: { filename: file.name, size: file.size } })
      : await change(r.artifactUploads.get, { params: { softwareModuleId: moduleId, uploadId: resumed } });
  steps.onOpened(opened.id);
  const params = { softwareModuleId: moduleId, uploadId: opened.id };
  try {
    let offset = opened.offset;
    steps.onOffset(offset);
    while (offset < file.size) {
      await steps.gate();
      steps.signal.throwIfAborted();
      offset = await sendPart(params, file, offset, opened.partSize, steps);
      steps.onOffset(offset);
    }
    steps.onHashing();
    const sha256 = await hash;
    steps.signal.throwIfAborted();
    // of a file that was changed after it was begun the server must make no artifact
    const artifact = await complete(params, sha256, steps.signal);
    steps.onEnded(opened.id);
    return { artifact, sha256 };
  } catch (error) {
    if (steps.signal.aborted) await change(r.artifactUploads.cancel, { params }).catch(() => undefined);
    if (steps.signal.aborted || isFinal(error)) steps.onEnded(opened.id);
    throw error;
  }
}

/** Completes an upload; a server that still reads the file, because its parts came in several goes, is asked again. */
async function complete(params: Params, sha256: string | undefined, signal: AbortSignal): Promise<ArtifactView> {
  const until = Date.now() + completeMs;
  for (;;) {
    try {
      return await change(r.artifactUploads.complete, { params, query: sha256 === undefined ? {} : { sha256sum: sha256 } });
    } catch (error) {
      const rest = error instanceof ApiError && Date.now() < until ? error.retryAfter : undefined;
      if (rest === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, rest * 1_000));
      signal.throwIfAborted();
    }
  }
}

type Params = { readonly softwareModuleId: number; readonly uploadId: string };

/** What the gateway answers where nobody is behind it; any other error is an answer of the server. */
const unreachable = [502, 503, 504];

/** Sends a part, as often as its connection breaks; answers the offset of the next one. */
async function sendPart(params: Params, file: File, from: number, partSize: number, { signal, onBroken }: UploadSteps): Promise<number> {
  let offset = from;
  for (let attempt = 0; ; attempt++) {
    try {
      const [start, end] = partOf(offset, partSize, file.size);
      const next = await put(params, start, file.slice(start, end), signal);
      onBroken(false);
      return next;
    } catch (error) {
      const refused = error instanceof ApiError && error.status < 500 && ![409, 429].includes(error.status);
      if (signal.aborted || refused || attempt >= tries) throw error;
      onBroken(!(error instanceof ApiError) || unreachable.includes(error.status));
      await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** attempt));
      signal.throwIfAborted();
      // What the server has is what counts: a part may have been stored although its answer was lost.
      offset = await change(r.artifactUploads.get, { params }).then(
        (upload) => upload.offset,
        () => offset,
      );
      if (offset >= file.size) {
        onBroken(false);
        return offset;
      }
    }
  }
}

async function put({ softwareModuleId, uploadId }: Params, offset: number, body: Blob, signal: AbortSignal): Promise<number> {
  const path = `api/mgmt/v1/softwaremodules/${softwareModuleId}/artifacts/uploads/${uploadId}?offset=${offset}`;
  const answer = await send(path, { method: "PUT", body, signal, headers: { "content-type": "application/octet-stream" } });
  if (!answer.ok) throw await refusalOf("artifactUploads.sendPart", answer);
  return ((await answer.json()) as { offset: number }).offset;
}
