import { BlockList, isIP } from "node:net";

/** What an operator allows beyond public addresses: for one tenant or for all. */
interface Entry {
  /** The name of a tenant; `*` stands for all. */
  readonly tenant: string;
  readonly network?: BlockList;
  /** `host:port` as it stands in an address that is called. */
  readonly place?: string;
}

/** The destinations beyond public addresses that an operator allows. */
export interface Allowed {
  /** Whether a tenant may connect to an address, be it public or not, when it calls `place` (`host:port`). */
  mayConnect(tenant: string, address: string, place: string): boolean;
  /** Whether the operator has named this destination, so that it may be called without TLS. */
  isNamed(tenant: string, address: string, place: string): boolean;
  /** Whether the operator has named anything for this tenant. */
  hasEntries(tenant: string): boolean;
}

/**
 * Networks that no stranger may make us call: what is special by RFC 6890 and its updates. Those that carry another address inside (6to4, NAT64, Teredo)
 * are refused as a whole, because what they lead to is decided elsewhere.
 */
const special = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  special.addSubnet(network, prefix, "ipv4");
/** Only 2000::/3 is given out to the public; of it these are special. */
const specialOfPublic = new BlockList();
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  specialOfPublic.addSubnet(network, prefix, "ipv6");
const givenOut = new BlockList();
givenOut.addSubnet("2000::", 3, "ipv6");

/** Answers whether an IP address is one of the public internet. Anything that is no IP address is not. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, "ipv4");
  if (family !== 6) return false;
  // an IPv4 address in the form of IPv6 (::ffff:10.0.0.1) lies outside of 2000::/3, so that it is refused too
  return givenOut.check(address, "ipv6") && !specialOfPublic.check(address, "ipv6");
}

/**
 * Reads `HARRIER_EGRESS_ALLOW`: `<tenant>@<network>` or `<tenant>@<host>:<port>`, comma separated, with `*` for all tenants; IPv6 hosts in brackets.
 * Throws if an entry is neither.
 */
export function parseAllowed(text = ""): Allowed {
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map(readEntry);
  const entriesOf = (tenant: string) => entries.filter((entry) => entry.tenant === "*" || entry.tenant === tenant);
  const isNamed: Allowed["isNamed"] = (tenant, address, place) =>
    entriesOf(tenant).some((entry) => entry.place === place || entry.network?.check(address, familyOf(address)));
  return {
    isNamed,
    hasEntries: (tenant) => entriesOf(tenant).length > 0,
    mayConnect: (tenant, address, place) => isPublic(address) || isNamed(tenant, address, place),
  };
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4");

function readEntry(text: string): Entry {
  const [, tenant = "", what = ""] = /^(.+)@([^@]+)$/.exec(text) ?? [];
  const [address = "", length] = what.split("/");
  const family = isIP(address);
  if (tenant !== "" && family !== 0) {
    const bits = family === 6 ? 128 : 32;
    const prefix = length === undefined ? bits : Number(length);
    if (Number.isInteger(prefix) && prefix >= 0 && prefix <= bits) {
      const network = new BlockList();
      network.addSubnet(address, prefix, familyOf(address));
      return { tenant, network };
    }
  }
  if (tenant !== "" && /^(\[[\da-fA-F:.]+\]|[\w.-]+):\d{1,5}$/.test(what)) return { tenant, place: what.toLowerCase() };
  throw new Error(`"${text}" is not <tenant>@<network> or <tenant>@<host>:<port>`);
}
