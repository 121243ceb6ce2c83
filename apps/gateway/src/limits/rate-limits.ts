import type { Route } from "@harrier/contracts";
import type { Principal } from "@harrier/rpc";
import { type AddressList, networkOf } from "../client/address-list.ts";
import { RateCounters } from "./rate-counters.ts";

/** Requests a second; 0: as many as come. */
export interface Rates {
  readonly reads: number;
  readonly writes: number;
  /** Of artifacts: a device that streams one asks for thousands of small ranges (contract device.md §12). */
  readonly downloads: number;
}

export interface RateLimitOptions {
  readonly address: Rates;
  readonly device: Rates;
  readonly tenant: Rates;
  /** Clients that are never limited. */
  readonly exempt: AddressList;
}

export type RequestKind = keyof Rates;

/** HEAD counts as a write, like everything but GET (contract device.md §1). */
export function kindOf(route: Route, method: string | undefined): RequestKind {
  if (route.credential === "download") return "downloads";
  return method === "GET" ? "reads" : "writes";
}

/** A request, for those who count it. */
export interface CountedRequest {
  readonly address: string;
  /** See Client: a hidden client is not exempt where its proxy is. */
  readonly hidden: boolean;
  readonly kind: RequestKind;
  readonly now: number;
}

const kinds = { reads: 0, writes: 1, downloads: 2 } as const;
/** Keys of different kinds and of different tenants are put apart by numbers: a text made for that would be garbage a moment later. */
const groups = { address: 0, device: 3, tenant: 6, ofNextTenant: 9 } as const;

/**
 * The limits of the device interface (contract device.md §9.7): by client address before anyone is signed in, so that guessing is limited too;
 * by device and by tenant only for who is signed in, so that nobody can use up what belongs to another.
 */
export class RateLimits {
  readonly #options: RateLimitOptions;
  readonly #counters = new RateCounters();

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** Counts a request for its address; false: it has had its requests. */
  admitsAddress(request: CountedRequest): boolean {
    if (this.#isExempt(request)) return true;
    const { address, kind, now } = request;
    const limit = this.#options.address[kind];
    return limit === 0 || this.#counters.take(this.#addressKey(address, kind), limit, now);
  }

  /**
   * Counts a request for its device and then for its tenant; false: one of them has had its requests. What is refused counts neither for the
   * tenant nor for the address, so that a device that asks too much takes nothing from its neighbours.
   */
  admitsDevice(request: CountedRequest, { tenantId, controllerId = "" }: Principal): boolean {
    if (this.#isExempt(request)) return true;
    const { address, kind, now } = request;
    const { device, tenant } = this.#options;
    const own = tenantId * groups.ofNextTenant + kinds[kind];
    const counters = this.#counters;
    const admitted =
      (device[kind] === 0 || counters.take(counters.keyOf(controllerId, own + groups.device), device[kind], now)) &&
      (tenant[kind] === 0 || counters.take(counters.keyOf("", own + groups.tenant), tenant[kind], now));
    if (!admitted) counters.giveBack(this.#addressKey(address, kind), now);
    return admitted;
  }

  #isExempt({ address, hidden }: CountedRequest): boolean {
    return !hidden && this.#options.exempt.includes(address);
  }

  #addressKey(address: string, kind: RequestKind): number {
    return this.#counters.keyOf(networkOf(address), groups.address + kinds[kind]);
  }
}
