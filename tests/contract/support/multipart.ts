import { randomBytes } from "node:crypto";

export interface FilePart {
  name?: string;
  /** If it is left out, the part names no file. */
  filename?: string;
  bytes: Buffer;
}

/** Builds a form as browsers send it, in the order given: a text becomes a field, bytes become a file. */
export function multipart(parts: readonly (readonly [name: string, value: string] | FilePart)[]): { type: string; body: Buffer } {
  const boundary = `----contract${randomBytes(12).toString("hex")}`;
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
