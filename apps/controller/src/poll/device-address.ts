import { isIP } from "node:net";

/**
 * Returns the address that a target gets from its polls, `http://<client ip>` (contract device.md §3.2). It uses only what the gateway forwards,
 * because the peer of this service is the gateway itself. Null leaves the address as it is.
 */
export function deviceAddress(forwardedFor: string | string[] | undefined): string | null {
  const list = Array.isArray(forwardedFor) ? forwardedFor[0] : forwardedFor;
  const first = (list?.split(",", 1)[0] ?? "").trim().replace(/^::ffff:(?=\d+\.)/i, "");
  const version = isIP(first);
  if (version === 0) return null;
  return version === 6 ? `http://[${first}]` : `http://${first}`;
}
