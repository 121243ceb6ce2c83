import type { IncomingMessage } from "node:http";
import type { ForwardedOrigin } from "../client/forwarded.ts";

// It matches 1 to 65535: links cannot lead to ports like 0 or 99999.
const portNumber = "0{0,4}[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5]";
const validPort = new RegExp(`^(?:${portNumber})$`);
const validHost = new RegExp(`^([A-Za-z0-9.\\-_]{1,255}|\\[[0-9A-Fa-f:.]+\\])(?::(${portNumber}))?$`);
const validPrefix = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~%-]+){1,16}\/?$/;
const defaultPorts = { http: "80", https: "443" } as const;

/**
 * Returns the address that links show: the configured one, else the one that the client called, from a trusted proxy's headers or its own Host header
 * (contract device.md §2.1). A value that is no host name is not echoed.
 */
export function publicAddress(req: IncomingMessage, configured: string | undefined, origin: ForwardedOrigin | undefined): string {
  if (configured !== undefined) return configured;
  if (origin !== undefined) return forwardedAddress(req, origin);
  const scheme = ownScheme(req);
  const host = req.headers.host;
  if (host === undefined || !validHost.test(host)) return `${scheme}://${ownAuthority(req)}`;
  const end = `:${defaultPorts[scheme]}`;
  return `${scheme}://${host.endsWith(end) ? host.slice(0, -end.length) : host}`;
}

/** Says whether the client came by TLS, as far as the gateway knows. */
export function isSecure(req: IncomingMessage, configured: string | undefined, origin: ForwardedOrigin | undefined): boolean {
  return publicAddress(req, configured, origin).startsWith("https:");
}

function forwardedAddress(req: IncomingMessage, origin: ForwardedOrigin): string {
  const scheme = schemes.get(origin.proto?.toLowerCase()) ?? ownScheme(req);
  const [, host, hostPort] = validHost.exec(origin.host ?? "") ?? validHost.exec(req.headers.host ?? "") ?? [];
  const port = validPort.test(origin.port ?? "") ? origin.port : hostPort;
  const shown = port === undefined || port === defaultPorts[scheme] ? "" : `:${port}`;
  const prefix = validPrefix.test(origin.prefix ?? "") ? (origin.prefix as string).replace(/\/$/, "") : "";
  return `${scheme}://${host === undefined ? ownAuthority(req) : host + shown}${prefix}`;
}

const schemes: ReadonlyMap<string | undefined, "http" | "https"> = new Map([
  ["http", "http"],
  ["https", "https"],
]);

function ownScheme(req: IncomingMessage): "http" | "https" {
  return "encrypted" in req.socket ? "https" : "http";
}

function ownAuthority(req: IncomingMessage): string {
  const { localAddress, localPort } = req.socket;
  const address = localAddress ?? "127.0.0.1";
  return `${address.includes(":") ? `[${address}]` : address}:${localPort ?? 80}`;
}
