import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { Readable } from "node:stream";
import { multipartOf } from "@harrier/client";
import type { ArtifactView } from "@harrier/contracts";
import { ExitError, exit } from "./exit.ts";
import { r } from "./routes.ts";
import type { Session } from "./session.ts";
import { barOf, type Upload } from "./upload-file.ts";
import { uploadInParts } from "./upload-parts.ts";

/** What is sent in one request: the size of a part, because less could not go on in the middle anyway. */
const oneRequestBytes = 8 * 1024 * 1024;

/**
 * Uploads a file and compares the hash that the server has made with that of the bytes that were read; what differs is deleted again. With an
 * expected hash the server refuses anything else itself. A file of more than 8 MiB goes in parts, and a run that is interrupted is gone on with by
 * the next one (contract console.md M15).
 */
export async function uploadFile(session: Session, upload: Upload): Promise<ArtifactView> {
  const { softwareModuleId, file, filename, sha256 } = upload;
  const { size } = statSync(file);
  const params = { softwareModuleId };
  await session.show(r.artifacts.upload, { params, query: { filename, ...(sha256 === undefined ? {} : { sha256sum: sha256 }) } });
  const { made, read } = size > oneRequestBytes ? await uploadInParts(session, upload) : await uploadAtOnce(session, upload, size);
  if (made.hashes.sha256 !== read) {
    await session.read(r.artifacts.delete, { params: { softwareModuleId, artifactId: made.id } });
    throw new ExitError(exit.failed, `${filename} arrived damaged and was deleted again`);
  }
  return made;
}

async function uploadAtOnce(
  session: Session,
  { softwareModuleId, file, filename, sha256 }: Upload,
  size: number,
): Promise<{ made: ArtifactView; read: string }> {
  const hash = createHash("sha256");
  let sent = 0;
  const bar = barOf(filename, size);
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      hash.update(chunk);
      sent += chunk.length;
      bar.at(sent);
      controller.enqueue(chunk);
    },
  });
  const source = (Readable.toWeb(createReadStream(file)) as unknown as ReadableStream<Uint8Array>).pipeThrough(
    counted as never,
  ) as ReadableStream<Uint8Array>;
  const client = await session.client();
  const made = await client.upload(r.artifacts.upload, {
    params: { softwareModuleId },
    query: { filename, ...(sha256 === undefined ? {} : { sha256sum: sha256 }) },
    upload: multipartOf(filename, source),
    signal: session.signal,
  });
  bar.end();
  return { made, read: hash.digest("hex") };
}
