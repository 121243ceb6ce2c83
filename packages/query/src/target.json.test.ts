import { targetView } from "@harrier/contracts";
import { expect, test } from "vitest";
import { hostOf, targetJson } from "./target.json.ts";
import type { TargetRow } from "./target-columns.ts";

const row: TargetRow = {
  controllerId: "dev/ä",
  name: "n",
  description: null,
  group: null,
  address: null,
  updateStatus: 0,
  requestAttributes: true,
  installedAt: null,
  lastPollAt: null,
  targetTypeId: null,
  targetTypeName: null,
  revision: 1,
  autoConfirmActive: null,
  pollingTime: null,
  pollingOverdueTime: null,
  createdBy: "admin",
  createdAt: 1,
  lastModifiedBy: "admin",
  lastModifiedAt: 2,
};
const view = { base: "http://x/rest/v1", surface: "rest" as const };

test("null members are not shown, and links are percent-encoded", () => {
  const json = targetJson(view, row, { now: 0 }, false);
  expect(targetView.parse(json)).toEqual(json);
  expect(json).toEqual({
    createdBy: "admin",
    createdAt: 1,
    lastModifiedBy: "admin",
    lastModifiedAt: 2,
    controllerId: "dev/ä",
    name: "n",
    updateStatus: "unknown",
    requestAttributes: true,
    _links: { self: { href: "http://x/rest/v1/targets/dev%2F%C3%A4" } },
  });
});

// the case is contract management.md §12.5, case 79
test.each([true, false])(
  "with the confirmation flow on: it shows auto-confirmation (%s) and the link with which to change it",
  (autoConfirmActive) => {
    const json = targetJson(view, { ...row, autoConfirmActive }, { now: 0 }, true);
    expect(json.autoConfirmActive).toBe(autoConfirmActive);
    expect(json._links.autoConfirm?.href).toBe("http://x/rest/v1/targets/dev%2F%C3%A4/autoConfirm");
    expect(targetJson(view, { ...row, autoConfirmActive }, { now: 0 }, false)._links).not.toHaveProperty("autoConfirm");
    expect(targetJson(view, row, { now: 0 }, true)._links).not.toHaveProperty("autoConfirm");
  },
);

// contract management.md §5.11: the next poll is expected after pollingTime, and overdue after pollingOverdueTime on top
test.each<[string, Partial<TargetRow>, number, object]>([
  ["defaults, just in time", { lastPollAt: 1000 }, 601_000, { nextExpectedRequestAt: 301_000, overdue: false }],
  ["defaults, late", { lastPollAt: 1000 }, 601_001, { nextExpectedRequestAt: 301_000, overdue: true }],
  [
    "own times",
    { lastPollAt: 0, pollingTime: "00:00:30", pollingOverdueTime: "00:01:00" },
    90_001,
    { nextExpectedRequestAt: 30_000, overdue: true },
  ],
])("poll status: %s", (_, members, now, expected) => {
  expect(targetJson(view, { ...row, ...members }, { now }, true).pollStatus).toMatchObject(expected);
});

test.each([
  ["http://10.0.0.1:80", "10.0.0.1"],
  ["https://[2001:db8::1]:8443/x", "2001:db8::1"],
  ["coap://device.local", "device.local"],
  ["amqp://vhost/x", undefined],
  ["amqps://vhost/x", undefined],
  ["urn:device:1", undefined],
  ["not a uri", undefined],
  [null, undefined],
])("host of %s", (address, host) => {
  expect(hostOf(address)).toBe(host);
});
