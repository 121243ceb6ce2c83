import type { SentBody } from "./request.ts";

/** The bytes of an upload: what a browser has as a file, or a stream. */
export type UploadSource = Blob | ReadableStream<Uint8Array>;

/**
 * Makes the body of an artifact's upload: one part `file`. A stream passes through as it is read; a Blob is left to the platform, which streams it
 * too. Fields (`filename`, `sha256sum`) go into the query.
 */
export function multipartOf(filename: string, source: UploadSource): { body: SentBody; headers: Record<string, string> } {
  if (source instanceof Blob) {
    const form = new FormData();
    form.append("file", source, filename);
    return { body: form, headers: {} };
  }
  const boundary = `harrier-${crypto.randomUUID()}`;
  const encoder = new TextEncoder();
  const disposition = `form-data; name="file"; filename="${filename.replaceAll(/["\r\n]/g, (character) => encodeURIComponent(character))}"`;
  const head = `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const wrapped = source.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode(head)),
      flush: (controller) => controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`)),
    }),
  );
  return { body: wrapped, headers: { "content-type": `multipart/form-data; boundary=${boundary}` } };
}
