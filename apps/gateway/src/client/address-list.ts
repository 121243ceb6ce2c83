import { BlockList, isIP } from "node:net";
import { LRUCache } from "lru-cache";

/** The addresses and networks of a setting: `10.0.0.0/8, ::1`, or `none`. The constructor throws for the first entry that is neither. */
export class AddressList {
  readonly #list = new BlockList();
  /** A fleet behind one proxy uses the same few addresses all the time. Clients choose their addresses, so the memory for them must be limited. */
  readonly #known = new LRUCache<string, boolean>({ max: 10_000 });
  readonly #empty: boolean;

  constructor(entries: string) {
    const given = entries.trim();
    this.#empty = given === "" || given === "none";
    if (!this.#empty) for (const entry of given.split(",")) this.#add(entry.trim());
  }

  #add(entry: string): void {
    const [address = "", length, ...more] = entry.split("/");
    const version = isIP(address);
    const maxBits = version === 4 ? 32 : 128;
    const bits = length === undefined ? maxBits : Number(length);
    if (version === 0 || more.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length)) || bits > maxBits) {
      throw new Error(`"${entry}" is no address and no network like 10.0.0.0/8`);
    }
    this.#list.addSubnet(address, bits, version === 4 ? "ipv4" : "ipv6");
  }

  /** Takes the address in plain form, see `plainAddress`. */
  includes(address: string): boolean {
    if (this.#empty) return false;
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    const version = isIP(address);
    const found = version !== 0 && this.#list.check(address, version === 4 ? "ipv4" : "ipv6");
    this.#known.set(address, found);
    return found;
  }
}

/** Removes the prefix from IPv4 addresses of a dual-stack socket. */
export function plainAddress(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}

/**
 * Returns the address that limits count: an IPv4 address, or the first 64 bits of an IPv6 one. One customer has all addresses of a network of that
 * size (RFC 6177), so a limit by single address would be useless.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const last = tail === "" ? [] : tail.split(":");
    // The dotted end of 64:ff9b::192.0.2.1 counts as two groups.
    const length = last.length + (tail.includes(".") ? 1 : 0);
    while (groups.length + length < 8) groups.push("0");
    groups.push(...last);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, "").toLowerCase())
    .join(":")}::/64`;
}
