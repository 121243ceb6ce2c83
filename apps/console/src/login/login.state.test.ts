import { expect, test } from "vitest";
import { isPrivate, safeTarget } from "./login.state.ts";

test.each([
  [undefined, "/"],
  ["/devices?q=a", "/devices?q=a"],
  ["https://evil.example", "/"],
  ["//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["/login?to=/login", "/"],
  ["/../../api/docs/", "/"],
  ["/devices/%2E%2e/x", "/"],
  ["/devices/..", "/"],
  ["/devices?q=name==a/../b", "/devices?q=name==a/../b"],
  ["/devices/a..b", "/devices/a..b"],
])("after the sign-in %s leads to %s", (to, target) => expect(safeTarget(to)).toBe(target));

test.each([
  ["/console/devices?q=a", "/devices?q=a"],
  ["/console/", "/"],
  ["/console", "/"],
  ["/console//evil.example", "/"],
  ["/console/login", "/"],
  ["/consoles", "/consoles"],
])("below /console the sign-in leads from %s to %s", (to, target) => expect(safeTarget(to, "/console")).toBe(target));

test.each([
  ["https:", "fleet.example", true],
  ["http:", "127.0.0.1", true],
  ["http:", "fleet.example", false],
])("%s//%s is private: %s", (protocol, host, expected) => expect(isPrivate(protocol, host)).toBe(expected));
