import { expect, test } from "vitest";
import { operationAt, operationById } from "./operations-table.ts";

test.each([
  ["GET", "/targets", "targets.list", {}, {}],
  ["GET", "/api/mgmt/v1/targets?limit=1&q=name%3D%3Da", "targets.list", {}, { limit: "1", q: "name==a" }],
  ["GET", "/targets/a%2Fb", "targets.get", { targetId: "a/b" }, {}],
  ["PUT", "/system/configs/pollingTime", "configs.put", { key: "pollingTime" }, {}],
  ["POST", "/rollouts/5/start", "rollouts.start", { rolloutId: "5" }, {}],
] as const)("%s %s is %s", (method, path, id, params, query) => {
  const { row, ...given } = operationAt(method, path);
  expect({ id: row.id, ...given }).toEqual({ id, params, query });
});

test.each(["/nothing", "/targets/", "targets", "/targets/%", "/system/amqp//dmf", "/system/%61mqp/dmf", "/TENANT/controller/v1/x"])(
  "there is no operation at %s",
  (path) => {
    expect(() => operationAt("POST", path)).toThrow();
  },
);

test("an id is one of the table, whatever objects have besides", () => {
  expect(operationById("rollouts.list").path).toBe("/rollouts");
  for (const id of ["rollouts.constructor", "constructor.name", "rollouts", "", "device.poll"])
    expect(() => operationById(id)).toThrow("there is no operation");
});
