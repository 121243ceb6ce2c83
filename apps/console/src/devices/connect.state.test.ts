import { expect, test } from "vitest";
import { pollAddress, pollCommand } from "./connect.state.ts";

test.each([
  ["http://127.0.0.1:8080/", "DEFAULT", "dev-1", "http://127.0.0.1:8080/DEFAULT/controller/v1/dev-1"],
  ["https://fleet.example/harrier/", "ACME", "hall 4/b", "https://fleet.example/harrier/ACME/controller/v1/hall%204%2Fb"],
])("at %s a device of %s called %s polls %s", (server, tenant, controllerId, address) => {
  expect(pollAddress({ server, tenant, controllerId })).toBe(address);
});

test("the command holds the token, in quotes", () => {
  const device = { server: "http://127.0.0.1:8080/", tenant: "DEFAULT", controllerId: "dev-1" };
  expect(pollCommand(device, "abc")).toBe("curl -sS -H 'Authorization: TargetToken abc' http://127.0.0.1:8080/DEFAULT/controller/v1/dev-1");
});
