import type { IncomingMessage } from "node:http";

const validHost = /^[A-Za-z0-9.\-_]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;

/**
 * The address that links show: the configured one, else what the client itself called (contract device.md §2.1).
 * A Host header that is no host name is not echoed back.
 */
export function publicAddress(req: IncomingMessage, configured: string | undefined): string {
  if (configured !== undefined) return configured;
  const host = req.headers.host;
  if (host !== undefined && validHost.test(host)) return `http://${host.replace(/:80$/, "")}`;
  const { localAddress, localPort } = req.socket;
  return `http://${localAddress ?? "127.0.0.1"}:${localPort ?? 80}`;
}
