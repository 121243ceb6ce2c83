import type { Log } from "@harrier/service";
import { AddressList } from "../client/address-list.ts";
import type { GatewayConfig } from "../config.ts";
import { ConnectionLimits } from "../listen/connection-limits.ts";
import { RateLimits } from "./rate-limits.ts";
import { SignInFailures } from "./sign-in-failures.ts";

/** How many connections there may be, in all and of an address. */
export function connectionLimits(config: GatewayConfig, log: Log): ConnectionLimits {
  const free = [new AddressList(config.HARRIER_RATE_EXEMPT), new AddressList(config.HARRIER_TRUSTED_PROXIES)];
  return new ConnectionLimits({
    total: config.HARRIER_CONNECTIONS_TOTAL,
    address: config.HARRIER_CONNECTIONS_ADDRESS,
    isFree: (address) => free.some((list) => list.includes(address)),
    onRefused: (refused) => log.warn({ refused }, "connections beyond HARRIER_CONNECTIONS_… were closed"),
    now: Date.now,
  });
}

/** How many requests and bytes a second there may be. */
export function rateLimits(config: GatewayConfig): RateLimits {
  const of = (whose: "ADDRESS" | "DEVICE" | "TENANT") => ({
    reads: config[`HARRIER_RATE_${whose}_READS`],
    writes: config[`HARRIER_RATE_${whose}_WRITES`],
    downloads: config[`HARRIER_RATE_${whose}_DOWNLOADS`],
  });
  return new RateLimits({
    address: of("ADDRESS"),
    device: of("DEVICE"),
    tenant: of("TENANT"),
    user: { reads: config.HARRIER_RATE_USER_READS, writes: config.HARRIER_RATE_USER_WRITES },
    users: { reads: config.HARRIER_RATE_USERS_READS, writes: config.HARRIER_RATE_USERS_WRITES },
    bytes: { device: config.HARRIER_RATE_DEVICE_BYTES, tenant: config.HARRIER_RATE_TENANT_BYTES },
    exempt: new AddressList(config.HARRIER_RATE_EXEMPT),
  });
}

/** How many sign-ins may fail. */
export function signInFailures(config: GatewayConfig): SignInFailures {
  const limits = {
    account: config.HARRIER_SIGN_IN_FAILURES_ACCOUNT,
    user: config.HARRIER_SIGN_IN_FAILURES_USER,
    address: config.HARRIER_SIGN_IN_FAILURES_ADDRESS,
    deviceAddress: config.HARRIER_SIGN_IN_FAILURES_ADDRESS_DEVICES,
  };
  return new SignInFailures({ limits, exempt: new AddressList(config.HARRIER_RATE_EXEMPT), now: Date.now });
}
