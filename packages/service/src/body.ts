import type { BodyOf, Route } from "@harrier/contracts";
import { parseWith } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import express from "express";

const largestBody = 1024 * 1024;

const readJson = express.json({
  limit: largestBody,
  type: () => true, // the media type is checked before, with the interface's own rules
  verify: (_req, _res, bytes) => {
    // the parser would take no text for {}
    if (bytes.length === 0) throw new HarrierError("bodyNotReadable");
  },
});

/** Media types of request bodies; devices may not send HAL (contract device.md §1.1, management.md §1.1). */
const accepted = {
  device: new Set(["application/json"]),
  management: new Set(["application/json", "application/hal+json"]),
};

/** Reads and checks the JSON body of a route: 415 for another type, 413 above 1 MiB, 400 when missing, broken or wrong. */
export async function parseBody<R extends Route>(route: R, req: express.Request, res: express.Response): Promise<BodyOf<R>> {
  const schema = route.body;
  if (schema === undefined || route.bodyKind === "multipart") return undefined as BodyOf<R>;
  if (!hasBody(req)) {
    if (route.bodyKind !== "optional-json") throw new HarrierError("bodyNotReadable");
    return schema.safeParse(undefined).data as BodyOf<R>;
  }
  const type = mediaType(req.headers["content-type"]);
  if (!accepted[route.interface].has(type)) throw new HarrierError("unsupportedMediaType");
  await new Promise<void>((resolve, reject) => {
    readJson(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(readError(error))));
  });
  return parseWith(schema, req.body, "body") as BodyOf<R>;
}

function hasBody(req: express.Request): boolean {
  if (req.headers["transfer-encoding"] !== undefined) return true;
  const length = req.headers["content-length"];
  return length !== undefined && length !== "0";
}

function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function readError(error: unknown): HarrierError {
  const status = (error as { status?: unknown }).status;
  if (status === 413) return new HarrierError("payloadTooLarge");
  if (status === 415) return new HarrierError("unsupportedMediaType");
  return new HarrierError("bodyNotReadable", undefined, { cause: error });
}
