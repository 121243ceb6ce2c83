import { isIP } from "node:net";

/**
 * Address that a target gets from its polls, `http://<client ip>` (contract device.md §3.2). Only what the gateway passes on counts:
 * the peer of this service is the gateway itself. Null: leave the address as it is.
 */
export function deviceAddress(forwardedFor: string | string[] | undefined): string | null {
  const list = Array.isArray(forwardedFor) ? forwardedFor[0] : forwardedFor;
  const first = (list?.split(",", 1)[0] ?? "").trim().replace(/^::ffff:(?=\d+\.)/i, "");
  const version = isIP(first);
  if (version === 0) return null;
  return version === 6 ? `http://[${first}]` : `http://${first}`;
}
