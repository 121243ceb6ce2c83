const halJson = "application/hal+json;charset=UTF-8";
const json = "application/json;charset=UTF-8";

interface Range {
  readonly type: string;
  readonly q: number;
}

// real clients send a handful of different headers; the bound is for the others
const cacheSize = 500;
const cache = new Map<string, string | null>();

/**
 * The JSON media type that a client accepts: HAL by default, plain JSON on request, null where it accepts neither
 * (contract device.md §1.1, management.md §1.1).
 */
export function negotiateJson(accept: string | undefined): string | null {
  if (accept === undefined || accept === "" || accept === "*/*") return halJson;
  const known = cache.get(accept);
  if (known !== undefined) return known;
  const chosen = choose(accept);
  if (cache.size >= cacheSize) cache.clear();
  cache.set(accept, chosen);
  return chosen;
}

function choose(accept: string): string | null {
  const ranges = accept.split(",").map(parseRange);
  // sort is stable: among equals the client's own order decides
  for (const range of ranges.filter(({ q }) => q > 0).sort((a, b) => b.q - a.q)) {
    const served = serve(range.type);
    if (served !== null && !ranges.some(({ type, q }) => q === 0 && served.startsWith(`${type};`))) return served;
  }
  return null;
}

function serve(type: string): string | null {
  if (type === "*/*" || type === "application/*" || type === "application/hal+json") return halJson;
  return type === "application/json" ? json : null;
}

function parseRange(text: string): Range {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  const q = weight === undefined ? 1 : Number(weight.slice(2));
  return { type, q: Number.isNaN(q) ? 1 : q };
}

/** Media type of an error body for a client that accepts nothing we speak. */
export const fallbackJson = json;
