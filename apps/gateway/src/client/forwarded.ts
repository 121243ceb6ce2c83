import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { plainAddress } from "./address-list.ts";

/** The parts of the address that the client called, as a proxy forwards them. */
export interface ForwardedOrigin {
  readonly proto?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly prefix?: string | undefined;
}

/** The headers of the proxies in front of us; each has appended its entry. */
export interface ForwardedChain {
  /** The address of each proxy's caller, the nearest to us last; undefined where a proxy did not name it. */
  readonly callers: readonly (string | undefined)[];
  /** Returns the value from the proxy that is this many proxies before the nearest one. */
  originAt(proxiesBefore: number): ForwardedOrigin;
}

const names = ["proto", "host", "port", "prefix"] as const;

/**
 * Reads what proxies add to a request (contract device.md §2.1). If there is any X-Forwarded-* header, `Forwarded` is ignored: most proxies write the
 * former and pass the latter on as the client sent it.
 */
export function readForwarded(headers: IncomingHttpHeaders): ForwardedChain {
  const lists = names.map((name) => [name, listOf(headers[`x-forwarded-${name}`])] as const);
  const callers = listOf(headers["x-forwarded-for"]);
  if (callers.length === 0 && lists.every(([, list]) => list.length === 0) && headers.forwarded !== undefined) {
    return chainOf(parseForwarded(headers.forwarded));
  }
  return {
    callers: callers.map(addressOf),
    originAt: (proxiesBefore) => Object.fromEntries(lists.map(([name, list]) => [name, fromLast(list, proxiesBefore)])),
  };
}

function chainOf(elements: readonly ReadonlyMap<string, string>[]): ForwardedChain {
  return {
    callers: elements.map((element) => addressOf(element.get("for") ?? "")),
    originAt(proxiesBefore) {
      const element = fromLast(elements, proxiesBefore);
      return { proto: element?.get("proto"), host: element?.get("host") };
    },
  };
}

/** Reads from the end. Not every proxy of a chain writes every header: the first entry also counts for the proxies before it. */
function fromLast<T>(list: readonly T[], before: number): T | undefined {
  return list[Math.max(0, list.length - 1 - before)];
}

function listOf(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  return String(header)
    .split(",")
    .map((part) => part.trim());
}

const pair = /([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))\s*([;,]?)\s*/gy;

/** Reads the elements of a `Forwarded` header (RFC 7239); a malformed one has none. */
function parseForwarded(header: string): Map<string, string>[] {
  const elements = [new Map<string, string>()];
  pair.lastIndex = 0;
  for (let at = 0; at < header.length; at = pair.lastIndex) {
    const found = pair.exec(header);
    if (found === null) return [];
    const [, name = "", quoted, token = "", end] = found;
    elements.at(-1)?.set(name.toLowerCase(), quoted === undefined ? token : quoted.replaceAll(/\\(.)/g, "$1"));
    if (end === ",") elements.push(new Map());
  }
  return elements;
}

/** Reads `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::7`, `[2001:db8::7]:4711`; undefined for names and for hidden addresses. */
function addressOf(text: string): string | undefined {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1];
  const bare = bracketed ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  const address = plainAddress(bare.toLowerCase());
  return isIP(address) === 0 ? undefined : address;
}
