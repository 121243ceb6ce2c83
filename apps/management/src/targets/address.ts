import { HarrierError } from "@harrier/errors";

/** These are the characters of a URI (RFC 3986); every other character must be percent-encoded. */
const uri = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/;

/** Refuses an address that is no URI (contract management.md §1.6); an empty one removes the address. */
export function checkAddress(address: string | undefined): void {
  if (address === undefined) return;
  if (!uri.test(address) || !URL.canParse(address, "http://relative")) throw new HarrierError("invalidTargetAddress");
}
