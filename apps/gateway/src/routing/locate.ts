import type { IncomingMessage } from "node:http";
import type { Surface } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import type { Match } from "./route-index.ts";

export type Located = Match | { kind: "malformed"; surface: Surface };

/** Finds the route of a request. Query strings do not matter for routing; parameters of the path are decoded. */
export function locate(match: (method: string, path: string) => Match, req: IncomingMessage): { path: string; found: Located } {
  const url = originFormOf(req);
  const question = url.indexOf("?");
  const path = question < 0 ? url : url.slice(0, question);
  const found = match(req.method ?? "GET", path);
  if (found.kind !== "route") return { path, found };
  // Another form, which begins with a star for one, is none that a service could be asked in.
  if (url.charCodeAt(0) !== slash) return { path, found: { kind: "malformed", surface: found.surface } };
  try {
    for (const name in found.params) {
      const value = found.params[name] as string;
      if (value.includes("%")) found.params[name] = decodeURIComponent(value);
    }
  } catch {
    return { path, found: { kind: "malformed", surface: found.surface } };
  }
  return { path, found };
}

const slash = 47;

/** Replaces the absolute form that proxies use (RFC 9112 §3.2.2), once: what is in it may look like another one. */
function originFormOf(req: IncomingMessage): string {
  const url = req.url ?? "/";
  if (url.charCodeAt(0) === slash || !URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  req.url = pathname + search;
  return req.url;
}

/** Makes the error of a request without a route. */
export function unrouted(found: Exclude<Located, { kind: "route" }>): HarrierError {
  if (found.kind === "not-found") return new HarrierError("routeNotFound");
  // By contract device.md §0 such an address is rejected before any other check.
  if (found.kind === "malformed") return new HarrierError("bodyNotReadable", "The request path is not well formed");
  return new HarrierError("methodNotAllowed", undefined, { headers: { allow: found.allow } });
}
