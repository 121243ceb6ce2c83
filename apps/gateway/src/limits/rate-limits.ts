import type { Route } from "@harrier/contracts";
import type { Principal } from "@harrier/rpc";
import { type AddressList, networkOf } from "../client/address-list.ts";
import { RateCounters } from "./rate-counters.ts";

/** Requests a second; 0 means no limit. */
export interface Rates {
  readonly reads: number;
  readonly writes: number;
  /** Requests for artifacts: a device that streams one makes thousands of small range requests (contract device.md §12). */
  readonly downloads: number;
}

export interface RateLimitOptions {
  readonly address: Rates;
  readonly device: Rates;
  readonly tenant: Rates;
  /** The limits of the management interface: one user or OAuth client, and all of a tenant. Transfers are reads and writes there. */
  readonly user: Pick<Rates, "reads" | "writes">;
  readonly users: Pick<Rates, "reads" | "writes">;
  /** The bytes a second that a device reports, and all devices of a tenant; 0 means no limit. */
  readonly bytes: { readonly device: number; readonly tenant: number };
  /** The clients that are never limited. */
  readonly exempt: AddressList;
}

export type RequestKind = keyof Rates;

/** HEAD counts as a write, like everything but GET (contract device.md §1). */
export function kindOf(route: Route, method: string | undefined): RequestKind {
  if (route.credential === "download") return "downloads";
  return method === "GET" ? "reads" : "writes";
}

/** The parts of a request that counting needs. */
export interface CountedRequest {
  readonly address: string;
  /** See Client: a hidden client is not exempt, even if its proxy is. */
  readonly hidden: boolean;
  readonly kind: RequestKind;
  readonly now: number;
}

const kinds = { reads: 0, writes: 1, downloads: 2 } as const;
/** Numbers separate keys of different kinds and of different tenants: a text made for that would be garbage a moment later. */
const groups = { address: 0, device: 3, tenant: 6, user: 9, users: 12, ofNextTenant: 15 } as const;
const byteGroups = { device: 0, tenant: 1, ofNextTenant: 2 } as const;
/** Bytes count in windows of this length, so that one report may have the maximum size at the default limit. */
const byteWindowMs = 4_000;

/**
 * Rate limits. The device interface is limited (contract device.md §9.7) by client address before the sign-in, so that guessing is limited too; by
 * device and by tenant only after the sign-in, so that no client can use up the rate of another. The management interface is limited by user and by
 * tenant; failed sign-ins have limits of their own.
 */
export class RateLimits {
  readonly #options: RateLimitOptions;
  readonly #counters = new RateCounters();
  readonly #bytes = new RateCounters({ windowMs: byteWindowMs });

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** Counts a request for its address; false if the limit is reached. */
  admitsAddress(request: CountedRequest): boolean {
    if (this.#isExempt(request)) return true;
    const { address, kind, now } = request;
    const limit = this.#options.address[kind];
    return limit === 0 || this.#counters.take(this.#addressKey(address, kind), limit, now);
  }

  /**
   * Counts a request for its device and then for its tenant; false if one of them has reached its limit. A denied request counts neither for the
   * tenant nor for the address, so that a device with too many requests takes nothing from its neighbours.
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
    if (!admitted) counters.release(this.#addressKey(address, kind), now);
    return admitted;
  }

  /** Counts a request of the management interface for its user and then for the tenant; false if one of them has reached its limit. */
  admitsUser(request: CountedRequest, { tenantId, subject, external }: Principal): boolean {
    if (this.#isExempt(request)) return true;
    const { now } = request;
    const { user, users } = this.#options;
    const kind = request.kind === "reads" ? "reads" : "writes";
    const own = tenantId * groups.ofNextTenant + kinds[kind];
    const counters = this.#counters;
    const name = external === true ? `${subject} of an issuer` : subject;
    return (
      (user[kind] === 0 || counters.take(counters.keyOf(name, own + groups.user), user[kind], now)) &&
      (users[kind] === 0 || counters.take(counters.keyOf("", own + groups.users), users[kind], now))
    );
  }

  /** Counts bytes that a device is about to report, for it and for its tenant; false if one of them has reached its limit. */
  admitsBytes(request: CountedRequest, { tenantId, controllerId = "" }: Principal, amount: number): boolean {
    if (this.#isExempt(request)) return true;
    const { now } = request;
    const { device, tenant } = this.#options.bytes;
    const own = tenantId * byteGroups.ofNextTenant;
    const takes = (key: number, rate: number) => this.#bytes.takeMany({ key, limit: (rate * byteWindowMs) / 1_000, now, amount });
    return (
      (device === 0 || takes(this.#bytes.keyOf(controllerId, own + byteGroups.device), device)) &&
      (tenant === 0 || takes(this.#bytes.keyOf("", own + byteGroups.tenant), tenant))
    );
  }

  #isExempt({ address, hidden }: CountedRequest): boolean {
    return !hidden && this.#options.exempt.includes(address);
  }

  #addressKey(address: string, kind: RequestKind): number {
    return this.#counters.keyOf(networkOf(address), groups.address + kinds[kind]);
  }
}
