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
  /** Of the management interface: one user or OAuth client, and all of a tenant. Transfers are reads and writes there. */
  readonly user: Pick<Rates, "reads" | "writes">;
  readonly users: Pick<Rates, "reads" | "writes">;
  /** Bytes a second that a device reports, and all devices of a tenant; 0: as many as come. */
  readonly bytes: { readonly device: number; readonly tenant: number };
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
const groups = { address: 0, device: 3, tenant: 6, user: 9, users: 12, ofNextTenant: 15 } as const;
const byteGroups = { device: 0, tenant: 1, ofNextTenant: 2 } as const;
/** Bytes count in windows of this length, so that one report may be as long as any at the usual limit. */
const byteWindowMs = 4_000;

/**
 * How much of a second is whose. The device interface (contract device.md §9.7): by client address before anyone is signed in, so that guessing is limited too;
 * by device and by tenant only for who is signed in, so that nobody can use up what belongs to another. The
 * management interface: by user and by tenant; who tries passwords there has limits of its own.
 */
export class RateLimits {
  readonly #options: RateLimitOptions;
  readonly #counters = new RateCounters();
  readonly #bytes = new RateCounters({ windowMs: byteWindowMs });

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

  /** Counts a request of the management interface for its user and then for the tenant; false: one of them has had its requests. */
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

  /** Counts bytes that a device is about to report, for it and for its tenant; false: one of them has had its bytes. */
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
