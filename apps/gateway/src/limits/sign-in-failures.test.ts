import { beforeEach, expect, test } from "vitest";
import { AddressList } from "../client/address-list.ts";
import { type Attempt, SignInFailures } from "./sign-in-failures.ts";
import { VerifiedCredentials } from "./verified-credentials.ts";

let now = 0;
let failures: SignInFailures;
beforeEach(() => {
  now = 1_000_000;
  const limits = { account: 3, user: 8, address: 6, deviceAddress: 5 };
  failures = new SignInFailures({ limits, exempt: new AddressList("127.0.0.1"), now: () => now });
});

let digests = 0;
/** Makes another digest each time. */
const digest = () => String.fromCharCode(...Array.from({ length: 16 }, (_, n) => (digests * 7 + n * 31 + (digests++ >> n)) & 255));
const attempt = (change: Partial<Attempt> = {}): Attempt => ({
  kind: "user",
  address: "203.0.113.7",
  hidden: false,
  account: "ada",
  credentials: [digest()],
  ...change,
});
const fail = (change?: Partial<Attempt>) => failures.begin(attempt(change)).failed();
const tooMany = (seconds: number) => expect.objectContaining({ code: "tooManyRequests", headers: { "retry-after": String(seconds) } });
const refusal = (change?: Partial<Attempt>) => {
  try {
    failures.begin(attempt(change)).abandoned();
    return "admitted";
  } catch (error) {
    return error;
  }
};

test("after three failed sign-ins an account pauses at an address for a minute; other accounts and addresses go on", () => {
  for (let n = 0; n < 3; n++) fail();
  now += 20_500;
  expect(refusal()).toEqual(tooMany(40));
  expect(refusal({ account: "bob" })).toBe("admitted");
  expect(refusal({ address: "203.0.113.8" })).toBe("admitted");
  now += 39_500;
  expect(refusal()).toBe("admitted");
});

test("many names from one address are limited together, an IPv6 network as one", () => {
  for (let n = 0; n < 6; n++) fail({ account: `name${n}`, address: `2001:db8::${n}` });
  expect(refusal({ account: "another", address: "2001:db8::ffff" })).toEqual(tooMany(60));
  expect(refusal({ account: "another", address: "2001:db8:0:1::" })).toBe("admitted");
});

test("a client counts by its id and its address after the answer, and no other address can lock it out", () => {
  const client = { kind: "client", account: "oc_1_11" } as const;
  const together = Array.from({ length: 5 }, () => failures.begin(attempt(client)));
  for (const one of together) one.failed();
  expect(refusal(client)).toEqual(tooMany(60));
  expect(refusal({ ...client, account: "oc_1_12" })).toBe("admitted");
  // A user of that name is another account.
  expect(refusal({ account: "oc_1_11" })).toBe("admitted");
  for (let n = 0; n < 20; n++) fail({ ...client, address: `198.51.100.${n}` });
  expect(refusal({ ...client, address: "192.0.2.1" })).toBe("admitted");
  fail({ ...client, account: "oc_1_13" });
  expect(refusal({ ...client, account: "oc_1_14" })).toEqual(tooMany(60));
  const near = { ...client, address: "127.0.0.1" };
  for (let n = 0; n < 10; n++) fail({ ...near, account: `oc_1_${20 + n}` });
  for (let n = 0; n < 3; n++) fail(near);
  expect(refusal(near)).toEqual(tooMany(60));
  expect(refusal({ ...near, account: "oc_1_40" })).toBe("admitted");
});

test("one user from many addresses is limited too, except with a verified credential", () => {
  const right = digest();
  failures.begin(attempt({ credentials: [right] })).succeeded(right);
  for (let n = 0; n < 8; n++) fail({ address: `198.51.100.${n}` });
  expect(refusal({ address: "192.0.2.1" })).toEqual(tooMany(60));
  const known = failures.begin(attempt({ credentials: [right], address: "192.0.2.1" }));
  expect(known.verified).toBe(true);
  known.succeeded(right);
  // A password that was changed is tried once more, and not again.
  failures.begin(attempt({ credentials: [right], address: "192.0.2.1" })).failed();
  expect(refusal({ credentials: [right], address: "192.0.2.1" })).toEqual(tooMany(60));
});

test("concurrent attempts count before they are answered; successes and aborted ones are subtracted again", () => {
  const open = Array.from({ length: 3 }, () => failures.begin(attempt()));
  expect(refusal()).toEqual(tooMany(60));
  open[0]?.abandoned();
  open[1]?.succeeded(digest());
  expect(refusal()).toBe("admitted");
  open[2]?.failed();
  for (let n = 0; n < 2; n++) fail();
  expect(refusal()).toEqual(tooMany(60));
});

test("a site whose devices come back at once is not throttled, one with many failures is", () => {
  const site = Array.from({ length: 50 }, (_, n) => failures.begin(attempt({ kind: "device", account: `T/d${n}` })));
  for (const device of site) device.succeeded(digest());
  for (let n = 0; n < 5; n++) fail({ kind: "device", account: `T/x${n}` });
  expect(refusal({ kind: "device", account: "T/new" })).toEqual(tooMany(60));
  // Failures of devices do not count for the users there.
  expect(refusal()).toBe("admitted");
});

test("an exempt address is not limited, but its users are; clients that it hides are not exempt", () => {
  const here = { address: "127.0.0.1" };
  for (let n = 0; n < 20; n++) fail({ ...here, kind: "device" });
  for (let n = 0; n < 20; n++) fail({ ...here, account: `name${n}` });
  for (let n = 0; n < 3; n++) fail(here);
  expect(refusal(here)).toEqual(tooMany(60));
  for (let n = 0; n < 6; n++) fail({ ...here, hidden: true, account: `other${n}` });
  expect(refusal({ ...here, hidden: true, account: "new" })).toEqual(tooMany(60));
});

test("0 means no limit", () => {
  const limits = { account: 0, user: 0, address: 0, deviceAddress: 0 };
  failures = new SignInFailures({ limits, exempt: new AddressList("none"), now: () => now });
  for (let n = 0; n < 1_000; n++) fail();
  expect(refusal()).toBe("admitted");
});

test("of 10,000 failed sign-ins a minute with any names few are verified", () => {
  let requested = 0;
  for (let n = 0; n < 10_000; n++) {
    now += 6;
    if (refusal({ account: `name${n % 5_000}` }) !== "admitted") continue;
    fail({ account: `name${n % 5_000}` });
    requested += 1;
  }
  expect(requested).toBeLessThanOrEqual(12);
});

test("verified credentials are remembered up to a maximum", () => {
  const verified = new VerifiedCredentials();
  const text = (n: number) =>
    String.fromCharCode(n & 255, (n >> 8) & 255, (n >> 16) & 255, (n * 37) & 255, (n * 91) & 255, n % 251, n % 241);
  for (let n = 0; n < 50_000; n++) verified.add(text(n));
  let kept = 0;
  for (let n = 0; n < 50_000; n++) if (verified.has(text(n))) kept += 1;
  expect(verified.size).toBe(kept);
  expect(verified.has(text(60_000))).toBe(false);
  verified.delete(text(3));
  expect(verified.has(text(3))).toBe(false);
});
