import { expect, test } from "vitest";
import { AddressList, networkOf, plainAddress } from "./address-list.ts";

test("addresses and networks of both families", () => {
  const list = new AddressList(" 10.0.0.0/8,192.0.2.7 , ::1, 2001:db8::/32");
  for (const address of ["10.255.0.1", "192.0.2.7", "::1", "0:0:0:0:0:0:0:1", "2001:db8:1::9"])
    expect(list.includes(address), address).toBe(true);
  for (const address of ["11.0.0.1", "192.0.2.8", "::2", "2001:db9::1", "", "localhost", "10.0.0.0/8"])
    expect(list.includes(address), address).toBe(false);
});

test.each(["", " ", "none"])("%j is no address", (text) => {
  expect(new AddressList(text).includes("127.0.0.1")).toBe(false);
});

test.each(["10.0.0.0/33", "::1/129", "proxy", "10.0.0.1,", "10.0.0.0/8/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0", "none,10.0.0.1"])(
  "%s is refused by its name",
  (text) => {
    expect(() => new AddressList(text)).toThrow(/^".*" is no address and no network like/);
  },
);

test("any number of unknown addresses is answered and none is cached", () => {
  const list = new AddressList("10.0.0.0/8");
  let found = 0;
  for (let n = 0; n < 30_000; n++) if (list.includes(`192.0.${n >> 8}.${n & 255}`)) found += 1;
  expect(found).toBe(0);
  expect(list.includes("10.1.1.1")).toBe(true);
});

test("an IPv4 address of a dual-stack socket is that address", () => {
  expect([plainAddress("::ffff:10.0.0.1"), plainAddress("::ffff:1"), plainAddress("::1")]).toEqual(["10.0.0.1", "::ffff:1", "::1"]);
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:0:7::1", "2001:db8:0:7::/64"],
  ["2001:DB8:0:0007:ffff:0:0:1", "2001:db8:0:7::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::", "fe80:0:0:0::/64"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
  ["1:2:3:4:5:6:192.0.2.1", "1:2:3:4::/64"],
])("%s counts as %s", (address, network) => expect(networkOf(address)).toBe(network));
