import { expect, test } from "vitest";
import { tenantPermissions } from "./permissions.ts";
import { meaningOf } from "./scopes.ts";

test("scopes are names of permissions or of roles, or give full access", () => {
  expect(meaningOf(["READ_TARGET", "openid", "role:fleet admin", "device-full-access"])).toEqual({
    permissions: ["READ_TARGET"],
    roles: ["openid", "fleet admin"],
    devices: true,
  });
  expect(meaningOf(["management-full-access"])).toEqual({ permissions: [...tenantPermissions], roles: [], devices: false });
  expect(meaningOf([])).toEqual({ permissions: [], roles: [], devices: false });
});

test("a built-in scope names a role only with the prefix", () => {
  expect(meaningOf(["role:READ_TARGET", "role:management-full-access"])).toMatchObject({
    permissions: [],
    roles: ["READ_TARGET", "management-full-access"],
  });
});

test("SYSTEM_ADMIN is the tenant's role, never the permission that concerns all tenants", () => {
  expect(meaningOf(["SYSTEM_ADMIN"])).toEqual({ permissions: [], roles: ["SYSTEM_ADMIN"], devices: false });
  expect(meaningOf(["management-full-access"]).permissions).not.toContain("SYSTEM_ADMIN");
});
