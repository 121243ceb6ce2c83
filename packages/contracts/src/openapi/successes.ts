import type { Surface } from "@harrier/errors";
import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import type { Route } from "../route.ts";
import { shownAs } from "../shown-as.ts";

/** The media types of answers; the first is the default (contract device.md §1.1, management.md §1.1). */
const objectsAnswered = {
  device: ["application/hal+json", "application/json", "application/cbor"],
  management: ["application/hal+json", "application/json"],
} as const;

const bytes = shownAs(z.unknown(), { type: "string", format: "binary" });

/** Answers the statuses of a success in one dialect; a 204 and a 304 never have a body. */
export function successesOf(row: Route, surface: Surface): Record<string, ZodOpenApiResponseObject> {
  const status = row.success[surface];
  if (status === undefined) throw new TypeError(`${row.id} has no success on ${surface}.`);
  const responses: Record<string, ZodOpenApiResponseObject> = { [status]: success("Success", status, row, surface) };
  for (const [other, description] of Object.entries(row.otherSuccess ?? {})) {
    responses[other] ??= success(description, Number(other), row, surface);
  }
  if (row.method === "GET" && row.responseType === undefined) responses["304"] = { description: "Unchanged since the given ETag" };
  return responses;
}

function success(description: string, status: number, row: Route, surface: Surface): ZodOpenApiResponseObject {
  const text = `${description.charAt(0).toUpperCase()}${description.slice(1)}`;
  if (status === 302)
    return { description: text, headers: { Location: { description: "The link", schema: { type: "string", format: "uri" } } } };
  return { description: text, ...(status === 204 ? {} : contentOf(row, status, surface)) };
}

function contentOf(row: Route, status: number, surface: Surface): Pick<ZodOpenApiResponseObject, "content"> {
  if (row.responseType === "application/octet-stream") {
    // several ranges are parts of one body (RFC 9110 §15.3.7.2)
    const types = status === 206 ? ["application/octet-stream", "multipart/byteranges"] : ["application/octet-stream"];
    return { content: Object.fromEntries(types.map((type) => [type, { schema: bytes }])) };
  }
  if (row.responseType !== undefined) return { content: { [row.responseType]: { schema: z.string() } } };
  const schema = surface === "rest" && row.responseRest !== undefined ? row.responseRest : row.response;
  if (schema === undefined || schema === null) return {};
  return { content: Object.fromEntries(objectsAnswered[row.interface].map((type) => [type, { schema }])) };
}
