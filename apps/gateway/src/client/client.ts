import type { IncomingMessage } from "node:http";
import { type AddressList, plainAddress } from "./address-list.ts";
import { type ForwardedOrigin, readForwarded } from "./forwarded.ts";

/** The sender of a request, as far as the network shows it. */
export interface Client {
  /** The address of the device or user; that of the peer if this is no trusted proxy. */
  readonly address: string;
  /** True if a trusted proxy does not name its client: the address is the proxy's own, and the proxy's exemptions do not apply to its clients. */
  readonly hidden: boolean;
  /** It exists if a trusted proxy forwarded the request: only then its headers about the client count. */
  readonly origin: ForwardedOrigin | undefined;
}

/**
 * Finds the client behind the proxies of HARRIER_TRUSTED_PROXIES: the last address of the chain that is none of them. The client may have written
 * what precedes it.
 */
export function clientOf(req: IncomingMessage, trusted: AddressList): Client {
  const peer = plainAddress(req.socket.remoteAddress ?? "");
  if (!trusted.includes(peer)) return { address: peer, hidden: false, origin: undefined };
  const { callers, originAt } = readForwarded(req.headers);
  let address = peer;
  let before = 0;
  for (let i = callers.length - 1; i >= 0; i--) {
    const caller = callers[i];
    // The proxy does not name its caller, so nothing before it can be trusted.
    if (caller === undefined) return { address, hidden: true, origin: originAt(before) };
    address = caller;
    before = callers.length - 1 - i;
    if (!trusted.includes(caller)) break;
  }
  return { address, hidden: false, origin: originAt(before) };
}
