import { expect, test } from "vitest";
import { nextStep, phaseOf, simulateCommand, tokenChanges } from "./start.state.ts";

test("the command names server and tenant only where the simulator would guess others", () => {
  expect(simulateCommand({ server: "http://127.0.0.1:8080/", tenant: "DEFAULT", token: "abc" })).toBe(
    "npm run simulate -- --gateway-token abc --devices 10 --poll 2s",
  );
  expect(simulateCommand({ server: "https://fleet.example/harrier/", tenant: "a plant", token: "it's" })).toBe(
    `npm run simulate -- --url https://fleet.example/harrier --tenant 'a plant' --gateway-token 'it'\\''s' --devices 10 --poll 2s`,
  );
});

test("a gateway token that is there stays, and only what is missing is set", () => {
  const key = "authentication.gatewaytoken.key";
  const enabled = "authentication.gatewaytoken.enabled";
  expect(tokenChanges({ enabled: false, key: "" }, () => "new")).toEqual({ [key]: "new", [enabled]: true });
  expect(tokenChanges({ enabled: true, key: "" }, () => "new")).toEqual({ [key]: "new" });
  expect(tokenChanges({ enabled: false, key: "old" }, () => "new")).toEqual({ [enabled]: true });
  expect(tokenChanges({ enabled: true, key: "old" }, () => "new")).toEqual({});
});

test("the next step is the first that is not done", () => {
  expect(nextStep({ devices: 0, sets: 1, rollouts: 1 })).toBe("devices");
  expect(nextStep({ devices: 1, sets: 0, rollouts: 0 })).toBe("software");
  expect(nextStep({ devices: 1, sets: 1, rollouts: 0 })).toBe("rollout");
  expect(nextStep({ devices: 1, sets: 1, rollouts: 1 })).toBeUndefined();
});

test.each([
  [false, 5, undefined, "over"],
  [true, 0, undefined, "unknown"],
  [true, 5, undefined, "unknown"],
  [true, 5, { devices: 5, sets: 1, rollouts: 0 }, "going"],
  [true, 5, { devices: 5, sets: 1, rollouts: 1 }, "over"],
] as const)("nothing installed %s on %i devices: the start is as it is called", (nothingInstalled, devices, started, phase) =>
  expect(phaseOf({ nothingInstalled, devices, started })).toBe(phase),
);
