import { type Route, routeTable as r } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { expect, test } from "vitest";
import { deniedRequestOf, type Refused } from "./denied-request-of.ts";

const unauthenticated = new HarrierError("unauthenticated");
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
const refused = (members: Partial<Refused> = {}): Refused => ({
  route: r.targets.create as Route,
  params: {},
  authorization: undefined,
  address: "10.0.0.1",
  principal: undefined,
  error: unauthenticated,
  surface: "spec",
  ...members,
});
const device = { route: r.device.poll as Route, params: { tenant: "acme", controllerId: "dev-1" }, surface: "device" } as const;

test("a failed sign-in names the claimed principal, never its credential", () => {
  const of = (authorization: string, members: Partial<Refused> = {}) => deniedRequestOf(refused({ authorization, ...members }));
  expect(of(basic("acme\\ann:s3cret"))).toMatchObject({ tenant: "acme", actor: "ann", entity: "user", scheme: "Basic", status: 401 });
  expect(of(basic("ann:s3cret"))).toMatchObject({ tenant: "", actor: "ann", action: "signIn", address: "10.0.0.1", signedIn: false });
  expect(of("TargetToken s3cret", device)).toMatchObject({ tenant: "acme", actor: "dev-1", entity: "target", entityIds: ["dev-1"] });
  for (const text of ["Bearer s3cret", "s3cret", "s3cret x", basic(":s3cret"), "Basic s3cret", "dsik_1_s3cret_x"]) {
    expect(of(text)).toMatchObject({ actor: "", entityIds: [] });
    expect(JSON.stringify([of(text), of(text, device), of(basic("ann:s3cret"))])).not.toContain("s3cret");
  }
  expect(JSON.stringify(of(basic(`${"x".repeat(3_000)}:y`))).length).toBeLessThan(700);
});

test("a request without a credential is no failed sign-in", () => {
  expect(deniedRequestOf(refused())).toBeUndefined();
  expect(deniedRequestOf(refused(device))).toBeUndefined();
});

test("of principals, only denied changing calls are recorded", () => {
  const principal = { tenantId: 3, tenant: "acme", kind: "user", subject: "ann", permissions: [] } as const;
  const error = new HarrierError("insufficientPermission");
  const call = { principal, error, authorization: basic("ann:right") };
  expect(deniedRequestOf(refused({ ...call, route: r.targets.delete as Route, params: { targetId: "dev-1" } }))).toEqual({
    tenantId: 3,
    tenant: "acme",
    signedIn: true,
    actor: "ann",
    action: "targets.delete",
    entity: "target",
    entityIds: ["dev-1"],
    scheme: "",
    address: "10.0.0.1",
    status: 403,
    errorCode: "insufficientPermission",
  });
  expect(deniedRequestOf(refused({ ...call, route: r.targets.list as Route }))).toBeUndefined();
  expect(deniedRequestOf(refused({ ...call, error: new HarrierError("unavailable") }))).toBeUndefined();
  expect(deniedRequestOf(refused({ ...call, error: new HarrierError("tooManyRequests") }))).toBeUndefined();
  expect(deniedRequestOf(refused({ ...call, ...device, error: new HarrierError("tooManyRequests") }))).toBeUndefined();
});
