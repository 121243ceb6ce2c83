import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { HarrierError } from "@harrier/errors";
import busboy from "busboy";

export interface Multipart<T> {
  /** Form fields, whether they stood before or after the file. */
  readonly fields: Readonly<Record<string, string>>;
  readonly file?: { readonly originalName: string | undefined; readonly stored: T };
}

/** Generous for the four fields there are; a form with more is no upload of ours. */
const limits = { fields: 32, fieldSize: 4096, parts: 64, headerPairs: 64 };

/**
 * Reads a multipart body as it comes: the part `file` goes to `store`, other file parts are passed over. Rejects once, with
 * the first thing that went wrong, and only after `store` has come to an end as well, so that nobody writes any more.
 * The request itself is left open: the error still has to be answered on it.
 */
export async function readMultipart<T>(req: IncomingMessage, store: (file: Readable) => Promise<T>): Promise<Multipart<T>> {
  const parser = createParser(req);
  const fields: Record<string, string> = {};
  let storing: Promise<{ originalName: string | undefined; stored: T }> | undefined;
  const ended = new Promise<void>((resolve, reject) => {
    parser.on("close", resolve);
    parser.on("error", (error) => reject(asMultipartError(error)));
    for (const limit of ["partsLimit", "fieldsLimit"] as const) parser.on(limit, () => reject(new HarrierError("multipartInvalid")));
    req.on("error", (error) => reject(asMultipartError(error)));
    req.on("close", () => {
      if (!req.complete) reject(new HarrierError("multipartInvalid", "The upload was cut off."));
    });
    parser.on("field", (name, value) => {
      // own members only: a field named __proto__ must not become one
      Object.defineProperty(fields, name, { value, enumerable: true, configurable: true });
    });
    parser.on("file", (name, file, info) => {
      if (name !== "file" || storing !== undefined) {
        file.resume();
        return;
      }
      storing = store(file).then((stored) => ({ originalName: info.filename, stored }));
      // when the parser failed first, the file fails only as its consequence
      storing.catch((error: unknown) => parser.destroyed || reject(error));
    });
  });
  req.pipe(parser);
  try {
    await ended;
  } catch (error) {
    req.unpipe(parser);
    parser.destroy(error as Error);
    await storing?.catch(() => {});
    throw error;
  }
  const file = await storing;
  return file === undefined ? { fields } : { fields, file };
}

function createParser(req: IncomingMessage): busboy.Busboy {
  try {
    // browsers and curl send names as UTF-8; the default would read them as Latin-1
    return busboy({ headers: req.headers, limits, defParamCharset: "utf8" });
  } catch (error) {
    throw asMultipartError(error);
  }
}

function asMultipartError(error: unknown): HarrierError {
  if (error instanceof HarrierError) return error;
  return new HarrierError("multipartInvalid", `The multipart upload is not well formed: ${(error as Error).message}.`, { cause: error });
}
