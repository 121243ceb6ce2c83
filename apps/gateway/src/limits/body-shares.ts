import type { Principal } from "@harrier/rpc";
import { networkOf } from "../client/address-list.ts";
import type { Holder } from "./shares.ts";

/** Bytes of the bodies that are held at once, of all who have signed in. */
export const bodiesTogether = 256 * 1024 * 1024;
/** The same of the open paths, where nobody has. */
export const openBodiesTogether = 8 * 1024 * 1024;

/** Neither an address nor a tenant has more, so that sixteen of them are needed to stop others. */
const share = 16;
/** A device has a quarter of its tenant's: not even its neighbours notice. A user has half of it, which is the longest list that it may send. */
const ownShare = { device: 64, user: 32 } as const;
/** Open paths: bodies of one address that are on their way at once. */
const openAtOnce = 32;

/** Whose share of the common pool a body of a signed-in client counts for. An address counts whether it is exempt from rates or not. */
export function holdersOf(address: string, principal: Principal): Holder[] {
  const { tenantId, kind, controllerId, subject } = principal;
  return [
    { key: `address ${networkOf(address)}`, bytes: bodiesTogether / share },
    { key: `tenant ${tenantId}`, bytes: bodiesTogether / share },
    { key: `${kind} ${tenantId} ${controllerId ?? subject}`, bytes: bodiesTogether / ownShare[kind === "user" ? "user" : "device"] },
  ];
}

/** Whose share of the open paths' pool a body counts for: there is nothing but the address. */
export function openHolders(address: string): Holder[] {
  return [{ key: networkOf(address), bytes: openBodiesTogether / share, bodies: openAtOnce }];
}
