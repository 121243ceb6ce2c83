import { routes } from "@harrier/contracts";
import { expect, test } from "vitest";
import { createRouteIndex } from "./route-index.ts";

const match = createRouteIndex();
const id = (method: string, path: string) => {
  const m = match(method, path);
  return m.kind === "route" ? `${m.route.id}@${m.surface}` : m.kind;
};

test("every route of the table is found by its own path, under both prefixes of the management interface", () => {
  for (const route of routes) {
    const path = route.path.replaceAll(/:\w+/g, "1");
    if (route.interface === "device") expect(id(route.method, path)).toBe(`${route.id}@device`);
    else {
      expect(id(route.method, `/api/mgmt/v1${path}`)).toBe(`${route.id}@spec`);
      expect(id(route.method, `/rest/v1${path}`)).toBe(`${route.id}@rest`);
    }
  }
});

test.each([
  ["GET", "/DEFAULT/controller/v1/", "not-found"],
  ["GET", "/DEFAULT/controller/v1", "not-found"],
  ["DELETE", "/DEFAULT/controller/v1/dev-1", "method-not-allowed"],
  ["GET", "/nothing/here", "not-found"],
  ["GET", "/api/mgmt/v1/nothing", "not-found"],
  ["GET", "/api/mgmt/v1x/targets", "not-found"],
  ["PATCH", "/rest/v1/targets", "method-not-allowed"],
  ["HEAD", "/DEFAULT/controller/v1/dev-1", "device.poll@device"],
])("%s %s is %s", (method, path, expected) => {
  expect(id(method, path)).toBe(expected);
});

test("an empty segment is no parameter", () => {
  expect(id("GET", "/api/mgmt/v1/targets//actions")).toBe("not-found");
});
