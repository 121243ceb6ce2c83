import type { Principal } from "@harrier/rpc";
import { networkOf } from "../client/address-list.ts";
import type { Holder } from "./shares.ts";

/** The maximum of bytes of all bodies of signed-in clients that are held at once. */
export const bodiesTogether = 256 * 1024 * 1024;
/** The same for the open paths, whose clients have no principal. */
export const openBodiesTogether = 8 * 1024 * 1024;

/** An address or a tenant has at most this fraction, so it takes sixteen of them to block others. */
const share = 16;
/**
 * A device has a quarter of its tenant's share, so that not even its neighbours notice. A user has half of it, which is the longest list that it may
 * send.
 */
const ownShare = { device: 64, user: 32 } as const;
/** The maximum of concurrent bodies of one address on open paths. */
const maxOpen = 32;

/** Lists the holders whose share of the common pool a body of a signed-in client takes. An address counts even if it is exempt from rate limits. */
export function holdersOf(address: string, principal: Principal): Holder[] {
  const { tenantId, kind, controllerId, subject } = principal;
  return [
    { key: `address ${networkOf(address)}`, bytes: bodiesTogether / share },
    { key: `tenant ${tenantId}`, bytes: bodiesTogether / share },
    { key: `${kind} ${tenantId} ${controllerId ?? subject}`, bytes: bodiesTogether / ownShare[kind === "user" ? "user" : "device"] },
  ];
}

/** Lists the holders for the open paths' pool: only the address is known. */
export function openHolders(address: string): Holder[] {
  return [{ key: networkOf(address), bytes: openBodiesTogether / share, bodies: maxOpen }];
}
