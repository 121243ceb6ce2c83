import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { HarrierError } from "@harrier/errors";
import busboy from "busboy";

export interface Multipart<T> {
  /** The form fields, from before and after the file. */
  readonly fields: Readonly<Record<string, string>>;
  readonly file?: { readonly originalName: string | undefined; readonly stored: T };
}

/** The contract knows four fields, so a form beyond these limits is not an upload. */
const limits = { fields: 32, fieldSize: 4096, parts: 64, headerPairs: 64 };

/**
 * Reads a multipart body as it arrives. The part `file` goes to `store`; other file parts are ignored. It rejects with the first error, and only
 * after `store` has ended, so that nothing is written afterwards. The request stays open, because the error still has to be answered on it.
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
      // an assignment would change the prototype if a field is named __proto__
      Object.defineProperty(fields, name, { value, enumerable: true, configurable: true });
    });
    parser.on("file", (name, file, info) => {
      if (name !== "file" || storing !== undefined) {
        file.resume();
        return;
      }
      storing = store(file).then((stored) => ({ originalName: info.filename, stored }));
      // if the parser failed first, the error of the file is only a consequence
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
    // browsers and curl send names in UTF-8, but busboy's default is Latin-1
    return busboy({ headers: req.headers, limits, defParamCharset: "utf8" });
  } catch (error) {
    throw asMultipartError(error);
  }
}

function asMultipartError(error: unknown): HarrierError {
  if (error instanceof HarrierError) return error;
  return new HarrierError("multipartInvalid", `The multipart upload is not well formed: ${(error as Error).message}.`, { cause: error });
}
