import type { IncomingHttpHeaders } from "node:http";
import { expect, test } from "vitest";
import { createHeaderFilter } from "../routing/foreign-headers.ts";
import { parseCertificateHeaders, readCertificates } from "./certificate.ts";

const families = parseCertificateHeaders("X-Ssl-Client-Cn:X-Ssl-Issuer-Hash-%d, X-Controller-Id:X-Authority");
const read = (headers: IncomingHttpHeaders) => readCertificates(headers, families);

test.each<[string, IncomingHttpHeaders, string | undefined]>([
  ["one hash", { "x-ssl-issuer-hash-1": "AB:cd" }, "ab:cd"],
  ["hashes up to a gap", { "x-ssl-issuer-hash-1": "a", "x-ssl-issuer-hash-2": "b", "x-ssl-issuer-hash-4": "d" }, "a,b"],
  ["none from 1 on", { "x-ssl-issuer-hash-2": "b" }, undefined],
  ["an empty one", { "x-ssl-issuer-hash-1": " " }, undefined],
  ["none", {}, undefined],
  ["of the other family", { "x-authority": "a" }, undefined],
])("numbered issuers: %s", (_what, headers, issuers) => {
  expect(read({ "x-ssl-client-cn": "dev", ...headers })).toEqual(issuers === undefined ? [] : [{ name: "dev", issuers }]);
});

test.each<[string, IncomingHttpHeaders, string | undefined]>([
  ["a list", { "x-authority": "A; b ,c;;A" }, "a,b,c"],
  ["from 0", { "x-authority-0": "a", "x-authority-1": "b" }, "a,b"],
  ["from 1", { "x-authority-1": "b", "x-authority-2": "c" }, "b,c"],
  ["both", { "x-authority": "a", "x-authority-1": "b" }, "a,b"],
  ["behind a gap", { "x-authority-3": "d" }, undefined],
  ["0 alone", { "x-authority-0": "a", "x-authority-2": "c" }, "a"],
])("listed issuers: %s", (_what, headers, issuers) => {
  expect(read({ "x-controller-id": "dev", ...headers })).toEqual(issuers === undefined ? [] : [{ name: "dev", issuers }]);
});

test("each family of headers is read by itself", () => {
  const headers = { "x-ssl-client-cn": "a", "x-ssl-issuer-hash-1": "1", "x-controller-id": "b", "x-authority": "2" };
  expect(read(headers)).toEqual([
    { name: "a", issuers: "1" },
    { name: "b", issuers: "2" },
  ]);
  expect(read({ "x-authority": "2" })).toEqual([]);
});

test.each(["", "X-Cn", "X-Cn:", "X-Cn:X-%d-Hash", "X Cn:X-Hash", "X-Cn:X-Hash,"])("%j names no headers", (text) => {
  expect(() => parseCertificateHeaders(text)).toThrow(/is not of the form/);
});

test("certificate headers are not forwarded to services", () => {
  const isForeign = createHeaderFilter(parseCertificateHeaders("X-Cn:X-Hash-%d,X-Name:X-Issuers"));
  for (const name of [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-prefix",
    "x-harrier-identity",
    "x-cn",
    "x-hash-12",
    "x-name",
    "x-issuers",
    "x-issuers-0",
  ])
    expect(isForeign(name), name).toBe(true);
  for (const name of ["host", "accept", "x-request-id", "x-hash-", "x-names", "x-forwarded", "range"])
    expect(isForeign(name), name).toBe(false);
});
