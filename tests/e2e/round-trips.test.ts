import { bootstrap, type DatabaseService, databaseServices, serviceUrl } from "@harrier/db";
import { type EmbeddedPostgres, type Stack, startPostgres } from "@harrier/stack";
import { createDevice, type RoundTripCounter, startRoundTripCounter, testPasswords, twoOfEach } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callsServed } from "./support/metrics.ts";
import { adminOf, allowTargetTokens, replicasOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// Round trips are counted on the wire between both controllers and PostgreSQL while requests go through the whole stack (architecture §1.1 and §1.2).

const fleet = 150;
let postgres: EmbeddedPostgres;
let counter: RoundTripCounter;
let stack: Stack;
/** Two idle controllers make this many round trips a second for themselves: settings, last polls, change feeds, folding. */
let background = 0;

beforeAll(async () => {
  postgres = await startPostgres();
  await bootstrap({ adminUrl: postgres.url, passwords: testPasswords });
  counter = await startRoundTripCounter(postgres.url);
  const urls = Object.fromEntries(
    databaseServices.map((service) => {
      const url = serviceUrl(postgres.url, service, testPasswords[service]);
      return [service, service === "controller" ? counter.through(url) : url];
    }),
  ) as Record<DatabaseService, string>;
  stack = await startAnsweringStack({ replicas: twoOfEach, database: { kind: "per-service", urls } });
  await allowTargetTokens(stack);
  background = Math.max(await idleRate(), await idleRate());
});
afterAll(async () => {
  await stack?.stop();
  await counter?.close();
  await postgres?.stop();
});

async function idleRate(): Promise<number> {
  const ms = 1_500;
  return ((await counter.during(() => new Promise((resolve) => setTimeout(resolve, ms)))) * 1_000) / ms;
}

interface FleetDevice {
  device: ReturnType<typeof createDevice>;
  actionId: number;
}

/** Makes devices that the gateway knows, each with an open action of one set; `assign` may add members to the assignment. */
async function makeFleet(assign: boolean | object): Promise<FleetDevice[]> {
  const api = adminOf(stack);
  const targets = await api.createTargets(fleet);
  const actions = new Map<string, number>();
  if (assign !== false) {
    const fields = assign === true ? {} : assign;
    const { set } = await api.createSetWithFile();
    for (const { controllerId } of targets) actions.set(controllerId, await api.assign(controllerId, set.id, fields));
  }
  const devices = targets.map(({ controllerId, securityToken }) => ({
    device: createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken }),
    actionId: actions.get(controllerId) ?? 0,
  }));
  await eachAnswers(devices, ({ device }) => device.call(""));
  return devices;
}

/** Makes the same request by every device, eight at a time; every answer must be 200. */
async function eachAnswers(
  devices: readonly FleetDevice[],
  ask: (one: FleetDevice) => Promise<{ status: number }>,
  concurrency = 8,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let one = devices[next++]; one !== undefined; one = devices[next++]) expect((await ask(one)).status).toBe(200);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Expects `requests` round trips beside those that the controllers make for themselves; one more per request would double them. */
async function expectOneRoundTripEach(requests: number, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  const roundTrips = await counter.during(work);
  const seconds = (performance.now() - began) / 1_000;
  expect(roundTrips).toBeGreaterThanOrEqual(requests);
  expect(roundTrips, `${requests} requests in ${seconds.toFixed(2)} s, background ${background}/s`).toBeLessThan(
    requests * 1.1 + background * (seconds + 1),
  );
  // The bound distinguishes one round trip from two.
  expect(requests * 1.1 + background * (seconds + 1)).toBeLessThan(requests * 2);
}

const rounds = 2;

/** Polls as each device, one after the other: simultaneous polls would share their round trip, and two could pass for one. */
async function pollAll(devices: readonly FleetDevice[]): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await eachAnswers(devices, ({ device }) => device.call(""), 1);
}

test("a poll is one round trip and no call, in every state of the target", async () => {
  const calls = () => callsServed(replicasOf(stack, "controller"), "harrier.controller.v1.DeviceIdentityService", "verifyDevice");

  const idle = await makeFleet(false);
  const before = await calls();
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(idle));
  const busy = await makeFleet(true);
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(busy)); // RUNNING
  await eachAnswers(busy, ({ device, actionId }) => device.call(`/deploymentBase/${actionId}`));
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(busy)); // RETRIEVED
  const api = adminOf(stack);
  for (const { device, actionId } of busy.slice(0, fleet / 2)) await api.cancel(device.controllerId, actionId);
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(busy)); // half of them CANCELING
  await eachAnswers(busy.slice(0, fleet / 2), ({ device, actionId }) => device.reportCancel(actionId, "closed"));
  await eachAnswers(busy.slice(fleet / 2), ({ device, actionId }) => device.report(actionId, "closed", "success"));
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(busy)); // CANCELED, FINISHED: installedBase
  // Each device of the second fleet signed in once; there was no other call.
  expect((await calls()) - before).toBe(fleet);
});

test("a poll is one round trip with a maintenance window, and when the last window has passed", async () => {
  const waiting = await makeFleet({ maintenanceWindow: { schedule: "0 0 2 1 1 ?", duration: "01:00", timezone: "+00:00" } });
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(waiting));

  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  const targets = waiting.slice(0, fleet / 2).map(({ device }) => ({ id: device.controllerId }));
  const start = new Date(Date.now() + 5_000);
  const fields = [start.getUTCSeconds(), start.getUTCMinutes(), start.getUTCHours(), start.getUTCDate(), start.getUTCMonth() + 1];
  const maintenanceWindow = { schedule: `${fields.join(" ")} ? ${start.getUTCFullYear()}`, duration: "00:00:01", timezone: "+00:00" };
  await api.post(
    `distributionsets/${set.id}/assignedTargets`,
    targets.map(({ id }) => ({ id, weight: 1_000, maintenanceWindow })),
  );
  // The older action has to be cancelled first.
  const lapsing = waiting.slice(0, fleet / 2);
  await eachAnswers(lapsing, ({ device, actionId }) => device.reportCancel(actionId, "closed"));
  await new Promise((resolve) => setTimeout(resolve, start.getTime() + 2_000 - Date.now()));
  // They poll one after the other: a poll that changes something does it in a statement of its own.
  await expectOneRoundTripEach(lapsing.length, () => eachAnswers(lapsing, ({ device }) => device.call(""), 1));
  const [first] = lapsing;
  expect(Object.keys((await first?.device.poll())?._links ?? {})).toContain("cancelAction");
  await expectOneRoundTripEach(lapsing.length * rounds, () => pollAll(lapsing));
});

test("a poll is one round trip while an action waits for its confirmation; each answer to it is one too", async () => {
  const api = adminOf(stack);
  await api.configure("user.confirmation.flow.enabled", true);
  const devices = await makeFleet(true);
  await api.configure("user.confirmation.flow.enabled", false);
  expect(Object.keys((await devices[0]?.device.poll())?._links ?? {})).toContain("confirmationBase");
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(devices));
  const post = (rest: string, body?: object) =>
    expectOneRoundTripEach(fleet, () =>
      eachAnswers(devices, ({ device, actionId }) =>
        device.call(`/confirmationBase/${rest.replace(":id", String(actionId))}`, {
          method: "POST",
          ...(body === undefined ? {} : { body }),
        }),
      ),
    );
  await expectOneRoundTripEach(fleet, () => eachAnswers(devices, ({ device }) => device.call("/confirmationBase"), 1));
  await post(":id/feedback", { confirmation: "denied", details: ["not now"] });
  await post("activateAutoConfirm", { initiator: "me" });
  await post("deactivateAutoConfirm");
  expect(Object.keys((await devices[0]?.device.poll())?._links ?? {})).toContain("deploymentBase");
});

test("a poll is one round trip where the polling time depends on a query", async () => {
  const devices = await makeFleet(true);
  const api = adminOf(stack);
  await api.configure(
    "pollingTime",
    `00:07:00~10%, controllerid == ${devices[0]?.device.controllerId} -> 00:01:00, name == x* -> 00:02:00`,
  );
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await eachAnswers(devices, ({ device }) => device.call(""));
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(devices));
  expect((await devices[0]?.device.poll())?.config.polling.sleep).toBe("00:01:00");
  await api.configure("pollingTime", "00:05:00");
});

test("a report is one round trip, whatever it reports", async () => {
  const devices = await makeFleet(true);
  // One after the other, as polls: simultaneous reports share their round trip.
  const reports = (from: readonly FleetDevice[], execution: string, finished: string, details: string[]) =>
    expectOneRoundTripEach(fleet, () =>
      eachAnswers(from, ({ device, actionId }) => device.report(actionId, execution, finished, details), 1),
    );
  for (const [execution, finished] of [
    ["proceeding", "none"],
    ["scheduled", "none"],
    ["download", "none"],
    ["resumed", "none"],
    ["closed", "success"],
  ] as const) {
    await reports(devices, execution, finished, ["a line"]);
  }
  await reports(await makeFleet(true), "closed", "failure", []);
});

test("with a policy a poll, a report and configuration data are one round trip each, whatever is awaited of the device", async () => {
  const rules = [{ attribute: "sw_version", equals: "1.3" }];
  await adminOf(stack).configure("evidence.default", JSON.stringify(rules));
  const proof = { graceSeconds: 0, stable: { polls: 2 }, watchHours: 1 };
  const safety = { proof, limits: { notFetchedSeconds: 3_600, installingSeconds: 3_600 }, retry: { max: 1, delaySeconds: 3_600 } };
  const [claims, fails] = [await makeFleet({ safety }), await makeFleet({ safety })];
  const reports = (from: readonly FleetDevice[], execution: string, finished: string) =>
    expectOneRoundTripEach(from.length, () =>
      eachAnswers(from, ({ device, actionId }) => device.report(actionId, execution, finished, []), 1),
    );
  const shows = (from: readonly FleetDevice[], version: string) =>
    expectOneRoundTripEach(from.length, () =>
      eachAnswers(
        from,
        ({ device }) => device.call("/configData", { method: "PUT", body: { mode: "merge", data: { sw_version: version } } }),
        1,
      ),
    );
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(claims)); // not fetched
  await reports(claims, "proceeding", "none");
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(claims)); // installing
  await reports(claims, "closed", "success");
  await reports(fails, "closed", "failure");
  expect(Object.keys((await claims[0]?.device.poll())?._links ?? {})).toContain("configData");
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(claims)); // rebooting
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(fails)); // waiting for the next attempt
  await shows(claims, "1.3");
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(claims)); // observing: these polls count
  await shows(claims, "1.2"); // they fall back
  await expectOneRoundTripEach(fleet * rounds, () => pollAll(claims));
});
