import { randomBytes } from "node:crypto";

/** A file of a form. Without a name it is the part `file`; without a file name the part names none. */
export interface FilePart {
  name?: string;
  filename?: string;
  bytes: Buffer;
}

/** Every form has the same boundary, so that a test can build a part of one from another. */
const boundary = "----harrier-test-8b1f0c5e7a9d4263";

/** Builds a form as browsers send it, in the order given: a text becomes a field, bytes become a file. `type` is its media type. */
export function multipart(parts: readonly (readonly [name: string, value: string] | FilePart)[]): { type: string; body: Buffer } {
  const pieces = parts.flatMap((part) => {
    if ("bytes" in part) {
      const filename = part.filename === undefined ? "" : `; filename="${part.filename.replaceAll('"', "%22")}"`;
      const head = `Content-Disposition: form-data; name="${part.name ?? "file"}"${filename}\r\nContent-Type: application/octet-stream`;
      return [Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), part.bytes, Buffer.from("\r\n")];
    }
    return [Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${part[0]}"\r\n\r\n${part[1]}\r\n`)];
  });
  return { type: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]) };
}

/**
 * Builds a form with one file of random bytes that comes in `pieces` over `ms` milliseconds, for an upload that something happens to. `headers` and
 * `body` belong to a request of testkit's `send`.
 */
export function slowForm(
  filename: string,
  { ms, pieces }: { ms: number; pieces: number },
): { headers: Record<string, string>; body: ReadableStream } {
  const { type, body: whole } = multipart([{ filename, bytes: Buffer.alloc(0) }]);
  const end = whole.indexOf("\r\n\r\n") + 4;
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(whole.subarray(0, end));
      for (let n = 0; n < pieces; n += 1) {
        controller.enqueue(randomBytes(10_000));
        await new Promise((resolve) => setTimeout(resolve, ms / pieces));
      }
      controller.enqueue(whole.subarray(end));
      controller.close();
    },
  });
  return { headers: { "content-type": type }, body };
}
