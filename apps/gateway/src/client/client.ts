import type { IncomingMessage } from "node:http";
import { type AddressList, plainAddress } from "./address-list.ts";
import { type ForwardedOrigin, readForwarded } from "./forwarded.ts";

/** Who sends a request, as far as the network tells. */
export interface Client {
  /** Of the device or person; of whom we talk to where that is no proxy of ours. */
  readonly address: string;
  /** A trusted proxy does not say for whom it asks: the address is the proxy's own, and what is granted to that is not for its clients. */
  readonly hidden: boolean;
  /** There where a trusted proxy passed the request on: only then do its headers about the client count. */
  readonly origin: ForwardedOrigin | undefined;
}

/**
 * The client behind the proxies of HARRIER_TRUSTED_PROXIES: the last address of the chain that is none of them. What stands before it the
 * client may have written itself.
 */
export function clientOf(req: IncomingMessage, trusted: AddressList): Client {
  const peer = plainAddress(req.socket.remoteAddress ?? "");
  if (!trusted.includes(peer)) return { address: peer, hidden: false, origin: undefined };
  const { callers, originAt } = readForwarded(req.headers);
  let address = peer;
  let before = 0;
  for (let i = callers.length - 1; i >= 0; i--) {
    const caller = callers[i];
    // a proxy that does not say who called it: nothing before it can be believed
    if (caller === undefined) return { address, hidden: true, origin: originAt(before) };
    address = caller;
    before = callers.length - 1 - i;
    if (!trusted.includes(caller)) break;
  }
  return { address, hidden: false, origin: originAt(before) };
}
