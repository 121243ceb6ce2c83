import type { Surface } from "@harrier/errors";
import { LRUCache } from "lru-cache";
import { cborType } from "./cbor.ts";

const halJson = "application/hal+json;charset=UTF-8";
const json = "application/json;charset=UTF-8";

interface Range {
  readonly type: string;
  readonly q: number;
}

/** A media type that we serve, and its name in `Accept`. */
interface Served {
  readonly name: string;
  readonly type: string;
}

const hal: Served = { name: "application/hal+json", type: halJson };
const plain: Served = { name: "application/json", type: json };
const cbor: Served = { name: "application/cbor", type: cborType };

// Real clients send only a few different headers, and the limits are for the others.
const cacheSize = 500;
const maxCachedLength = 512;

/** Makes a function that chooses among these media types; the first is the default. */
function negotiator(served: readonly Served[]): (accept: string | undefined) => string | null {
  const cache = new LRUCache<string, { readonly type: string | null }>({ max: cacheSize });
  return (accept) => {
    if (accept === undefined || accept === "" || accept === "*/*") return halJson;
    const known = cache.get(accept);
    if (known !== undefined) return known.type;
    const type = choose(accept, served);
    if (accept.length <= maxCachedLength) cache.set(accept, { type });
    return type;
  };
}

const forDevices = negotiator([hal, plain, cbor]);
const forPeople = negotiator([hal, plain]);

/**
 * Chooses the media type of an object: HAL by default, plain JSON on request, CBOR on request of a device, null if the client accepts none of them
 * (contract device.md §1.1, management.md §1.1).
 */
export function negotiate(accept: string | undefined, surface: Surface): string | null {
  return surface === "device" ? forDevices(accept) : forPeople(accept);
}

/** Libraries compare parameters too: to `application/json;charset=utf-8`, which clients send, they would answer that nothing is acceptable. */
function choose(accept: string, served: readonly Served[]): string | null {
  const ranges = accept.split(",").map(parseRange);
  const refused = new Set(ranges.filter(({ q }) => q === 0).map(({ type }) => type));
  const offered = served.filter(({ name }) => !refused.has(name));
  // the sort is stable, so the client's own order decides among equals
  for (const range of ranges.filter(({ q }) => q > 0).sort((a, b) => b.q - a.q)) {
    const found = offered.find(({ name }) => range.type === "*/*" || range.type === "application/*" || range.type === name);
    if (found !== undefined) return found.type;
  }
  return null;
}

function parseRange(text: string): Range {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  const q = weight === undefined ? 1 : Number(weight.slice(2));
  return { type, q: Number.isNaN(q) ? 1 : q };
}

/** The media type of an error body for a client that accepts none of ours. */
export const fallbackJson = json;
