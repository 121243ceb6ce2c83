import { expect, test } from "vitest";
import { isConfidential } from "./confidential.ts";
import { routes } from "./routes.ts";

test("these are the routes whose answers may hold a secret", () => {
  const found = routes.filter(isConfidential).map(({ id }) => id);
  expect(found).toEqual(
    expect.arrayContaining(["targets.list", "targets.create", "targets.get", "targets.update", "targetTags.listAssigned"]),
  );
  expect(found).toEqual(expect.arrayContaining(["apiKeys.create", "oauth2Clients.create", "oauth2Clients.rotateSecret", "tenants.create"]));
  expect(found).toEqual(expect.arrayContaining(["configs.list", "configs.get", "configs.put", "configs.putMany"]));
  for (const id of [
    "users.get",
    "users.create",
    "apiKeys.get",
    "oauth2Clients.get",
    "distributionSets.get",
    "device.poll",
    "tenants.get",
  ]) {
    expect(found).not.toContain(id);
  }
});
