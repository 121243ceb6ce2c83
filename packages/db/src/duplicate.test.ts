import { expect, test } from "vitest";
import { duplicateOf } from "./duplicate.ts";

const failed = (detail: string, code = "23505") => ({ code, detail });

test.each([
  ["Key (tenant_id, name, version)=(1, os, 1.0) already exists.", { name: "os", version: "1.0" }],
  ["Key (tenant_id, name, version, type_id)=(1, os, 1.0, 11) already exists.", { name: "os", version: "1.0" }],
  ["Key (tenant_id, controller_id)=(1, dev-1) already exists.", { controllerId: "dev-1" }],
  ["Key (tenant_id, controller_id)=(1, a, b)=(c) already exists.", { controllerId: "a, b)=(c" }],
  ["Key (lower(name))=(fleet) already exists.", { name: "fleet" }],
  ["Key (tenant_id, module_id, key)=(1, 12, a, b) already exists.", { key: "a, b" }],
  ["Schlüssel »(tenant_id, name)=(1, os)« existiert bereits.", { name: "os" }],
])("reads %s", (detail, told) => {
  expect(duplicateOf(failed(detail))).toEqual(told);
});

test.each([
  ["two texts, one of them with the separator", failed("Key (tenant_id, name, version)=(1, a, b, 1.0) already exists.")],
  ["a digest", failed("Key (tenant_id, digest)=(1, \\xabcdef) already exists.")],
  ["another failure", failed("Key (tenant_id, name)=(1, os) is not present.", "23503")],
  ["no detail", { code: "23505" }],
])("finds no duplicate in %s", (_case, error) => {
  expect(duplicateOf(error)).toBeUndefined();
});
