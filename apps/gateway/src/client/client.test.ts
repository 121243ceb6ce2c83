import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { publicAddress } from "../routing/public-address.ts";
import { AddressList } from "./address-list.ts";
import { clientOf } from "./client.ts";

const trusted = new AddressList("10.0.0.0/8,2001:db8:f::/48");
const from = (remoteAddress: string, headers: IncomingHttpHeaders) =>
  ({ headers: { host: "gw:8080", ...headers }, socket: { remoteAddress, localAddress: "10.1.1.1", localPort: 8080 } }) as IncomingMessage;
const see = (headers: IncomingHttpHeaders, peer = "10.0.0.1") => {
  const req = from(peer, headers);
  const client = clientOf(req, trusted);
  return [client.address, publicAddress(req, undefined, client.origin)];
};

const everything = {
  forwarded: "for=203.0.113.1;host=evil;proto=https",
  "x-forwarded-for": "203.0.113.1",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "evil",
  "x-forwarded-port": "1",
  "x-forwarded-prefix": "/evil",
};

test("forwarded headers of untrusted peers have no effect", () => {
  expect(see(everything, "192.0.2.1")).toEqual(["192.0.2.1", "http://gw:8080"]);
  expect(see(everything, "::ffff:192.0.2.1")).toEqual(["192.0.2.1", "http://gw:8080"]);
  const nobody = clientOf(from("10.0.0.1", everything), new AddressList("none"));
  expect(nobody).toEqual({ address: "10.0.0.1", hidden: false, origin: undefined });
});

describe("the client behind trusted proxies", () => {
  test.each([
    [undefined, "10.0.0.1"],
    ["203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:4711", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:DB8::7", "2001:db8::7"],
    ["[2001:db8::7]:4711", "2001:db8::7"],
    ["198.51.100.9, 203.0.113.7", "203.0.113.7"],
    ["198.51.100.9, 203.0.113.7, 10.0.0.2,2001:db8:f::3", "203.0.113.7"],
    ["10.0.0.9, 10.0.0.2", "10.0.0.9"],
    ["203.0.113.7, unknown", "10.0.0.1"],
    ["203.0.113.7, unknown, 10.0.0.2", "10.0.0.2"],
    ["", "10.0.0.1"],
    [",,,", "10.0.0.1"],
    ["127.0.0.1, 203.0.113.7", "203.0.113.7"],
  ])("X-Forwarded-For %s is %s", (list, address) => {
    expect(see(list === undefined ? {} : { "x-forwarded-for": list })[0]).toBe(address);
  });

  test.each([
    [undefined, false],
    ["203.0.113.7", false],
    ["unknown, 203.0.113.7", false],
    ["unknown", true],
    ["203.0.113.7, unknown", true],
    ["203.0.113.7, unknown, 10.0.0.2", true],
    ["", true],
  ])("X-Forwarded-For %s hides it: %s", (list, hidden) => {
    expect(clientOf(from("10.0.0.1", list === undefined ? {} : { "x-forwarded-for": list }), trusted).hidden).toBe(hidden);
  });

  test.each([
    ["for=203.0.113.7", "203.0.113.7"],
    ['For="[2001:db8:cafe::17]:4711"', "2001:db8:cafe::17"],
    ["for=198.51.100.9, for=203.0.113.7;proto=http, for=10.0.0.2;by=10.0.0.3", "203.0.113.7"],
    ["for=203.0.113.7, for=_hidden", "10.0.0.1"],
    ["proto=https", "10.0.0.1"],
    ['for="203.0.113.7', "10.0.0.1"],
    ["for=203.0.113.7 for=1", "10.0.0.1"],
    ["for 203.0.113.7", "10.0.0.1"],
  ])("Forwarded %s is %s", (forwarded, address) => {
    expect(see({ forwarded })[0]).toBe(address);
  });

  test("Forwarded may come from the client where the proxies write X-Forwarded-*", () => {
    expect(see({ forwarded: "for=127.0.0.1;host=evil", "x-forwarded-for": "203.0.113.7" })).toEqual(["203.0.113.7", "http://gw:8080"]);
  });
});

describe("the public address", () => {
  test.each<[string, IncomingHttpHeaders, string]>([
    ["nothing said", {}, "http://gw:8080"],
    ["https", { "x-forwarded-proto": "https" }, "https://gw:8080"],
    ["https, as the device called it", { host: "ota.example:9443", "x-forwarded-proto": "HTTPS" }, "https://ota.example:9443"],
    ["a default port", { host: "ota.example:443", "x-forwarded-proto": "https" }, "https://ota.example"],
    ["port 443 of http is none", { host: "ota.example:443" }, "http://ota.example:443"],
    ["a host", { "x-forwarded-host": "ota.example" }, "http://ota.example"],
    ["a host with its port", { "x-forwarded-host": "ota.example:8443", "x-forwarded-proto": "https" }, "https://ota.example:8443"],
    ["a port", { "x-forwarded-host": "ota.example", "x-forwarded-port": "8443" }, "http://ota.example:8443"],
    ["a port for another one", { "x-forwarded-host": "ota.example:1", "x-forwarded-port": "80" }, "http://ota.example"],
    ["an IPv6 host", { "x-forwarded-host": "[2001:db8::1]:8443" }, "http://[2001:db8::1]:8443"],
    ["a prefix", { "x-forwarded-prefix": "/updates/eu/" }, "http://gw:8080/updates/eu"],
    ["Forwarded", { forwarded: 'for=1.1.1.1;proto=https;host="ota.example:8443"' }, "https://ota.example:8443"],
    ["no scheme of the web", { "x-forwarded-proto": "javascript" }, "http://gw:8080"],
    ["no host name", { "x-forwarded-host": 'evil"/path' }, "http://gw:8080"],
    ["no port", { "x-forwarded-port": "99x" }, "http://gw:8080"],
    ["a port that there is not", { "x-forwarded-port": "0", "x-forwarded-proto": "https" }, "https://gw:8080"],
    ["a port beyond all", { "x-forwarded-host": "ota.example", "x-forwarded-port": "99999" }, "http://ota.example"],
    ["a host with a port beyond all", { "x-forwarded-host": "ota.example:65536" }, "http://gw:8080"],
    ["no port of a host", { host: "gw:0" }, "http://10.1.1.1:8080"],
    ["no prefix", { "x-forwarded-prefix": "//evil.example" }, "http://gw:8080"],
    ["a prefix that leads out", { "x-forwarded-prefix": "/a/../b" }, "http://gw:8080"],
    ["no host at all", { host: "<script>" }, "http://10.1.1.1:8080"],
  ])("%s", (_what, headers, address) => {
    expect(see(headers)[1]).toBe(address);
  });

  test("of a chain it is the address at which the outermost trusted proxy was called", () => {
    const chain = { "x-forwarded-for": "198.51.100.9, 203.0.113.7, 10.0.0.2", "x-forwarded-proto": "http, https, http" };
    expect(see({ ...chain, "x-forwarded-host": "evil, ota.example, inner" })[1]).toBe("https://ota.example");
    // One proxy has set the header, and the others have not added to it.
    expect(see({ ...chain, "x-forwarded-host": "ota.example" })[1]).toBe("https://ota.example");
    const forwarded = "for=198.51.100.9;host=evil, for=203.0.113.7;host=ota.example;proto=https, for=10.0.0.2;host=inner";
    expect(see({ forwarded })[1]).toBe("https://ota.example");
  });

  test("where TLS ends here it is https", () => {
    const own = (headers: IncomingHttpHeaders, peer = "192.0.2.1") => {
      const req = from(peer, headers);
      Object.assign(req.socket, { encrypted: true });
      return publicAddress(req, undefined, clientOf(req, trusted).origin);
    };
    expect(own({ host: "ota.example:8443" })).toBe("https://ota.example:8443");
    expect(own({ host: "ota.example:443" })).toBe("https://ota.example");
    expect(own({ "x-forwarded-host": "ota.example" }, "10.0.0.1")).toBe("https://ota.example");
    expect(own({ "x-forwarded-proto": "http" }, "10.0.0.1")).toBe("http://gw:8080");
  });

  test("the configured one takes precedence", () => {
    const req = from("10.0.0.1", everything);
    expect(publicAddress(req, "https://updates.example.com", clientOf(req, trusted).origin)).toBe("https://updates.example.com");
  });
});
